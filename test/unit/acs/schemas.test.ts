import { describe, expect, it } from "vitest";
import { broken } from "../../support/acs-schemas.ts";

const provenance = {
  provenance_id: "p-1",
  origin: "user_input",
  source_id: "policy",
  derived_from: ["step-1", "p-0"],
};
const intent = {
  raw: "tidy up the tests",
  parsed: [{ tool: "Read", operation: "read", resource: "file:./src/*" }, { tool: "Bash" }, {}],
  parser_provenance: provenance,
  scope_mode: "moderate",
};
const sessionStart = {
  user_identity: { user_id: "u", roles: ["owner"], authentication_method: "oauth" },
  policy_mode: "moderate",
  intent,
  platform_context: { cwd: "/srv/shop", depth: 0, tools: [null] },
};
const subagentStart = {
  subagent_session_id: "0b0a4f5e-5d0c-5f1e-9c35-3f1f6a3f2d11",
  parent_session_id: "9C0E9E1A-8C29-4F5B-BE6B-2A0A7B1D9E55",
  parent_step_id: "step-1",
  intent_derivation: "derived_from_parent",
  subagent_intent: intent,
  subagent_descriptor: { agent_id: "a1", agent_name: "spawn-guard:qa-engineer", model_id: "sonnet" },
};

describe("the payload of steps/sessionStart", () => {
  it.each<[string, unknown]>([
    ["with everything", sessionStart],
    ["with nothing", {}],
    ["with empty objects", { user_identity: {}, intent: {}, platform_context: {} }],
    ["with an intent that is words only", { intent: { raw: "x" } }],
    ["with a provenance and no capabilities", { intent: { parser_provenance: provenance } }],
    ["with an intent of no capability", { intent: { parsed: [], parser_provenance: provenance } }],
    ["with members that ACS does not know", { ...sessionStart, more: 1, user_identity: { more: 1 } }],
  ])("is valid %s", (_, payload) => {
    expect(broken("session-start", payload)).toEqual([]);
  });

  it.each(["strict", "moderate", "permissive"])("may be %s", (policy_mode) => {
    expect(broken("session-start", { policy_mode })).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["is an object", [], " type"],
    ["user_identity is an object", { user_identity: "u" }, "/user_identity type"],
    ["user_id is a text", { user_identity: { user_id: 1 } }, "/user_identity/user_id type"],
    ["roles is a list", { user_identity: { roles: "owner" } }, "/user_identity/roles type"],
    ["a role is a text", { user_identity: { roles: ["owner", 1] } }, "/user_identity/roles/1 type"],
    [
      "authentication_method is a text",
      { user_identity: { authentication_method: null } },
      "/user_identity/authentication_method type",
    ],
    ["policy_mode is one of three", { policy_mode: "loose" }, "/policy_mode enum"],
    ["intent is an intent", { intent: [] }, "/intent type"],
    ["platform_context is an object", { platform_context: [] }, "/platform_context type"],
  ])("%s", (_, payload, problem) => {
    expect(broken("session-start", payload)).toEqual([problem]);
  });
});

describe("the payload of steps/subagentStart", () => {
  it.each<[string, Record<string, unknown>]>([
    ["with everything", {}],
    ["inheriting all", { intent_derivation: "inherit_full" }],
    ["inheriting less", { intent_derivation: "inherit_subset" }],
    ["from the person", { intent_derivation: "fresh" }],
    ["with empty objects", { subagent_intent: {}, subagent_descriptor: {} }],
    ["with an empty step id", { parent_step_id: "" }],
    ["with members that ACS does not know", { more: 1, subagent_descriptor: { more: 1 } }],
  ])("is valid %s", (_, changes) => {
    expect(broken("subagent-start", { ...subagentStart, ...changes })).toEqual([]);
  });

  it("is valid with only what is required", () => {
    const { subagent_intent: _, subagent_descriptor: __, ...required } = subagentStart;
    expect(broken("subagent-start", required)).toEqual([]);
  });

  it.each(["subagent_session_id", "parent_session_id", "parent_step_id", "intent_derivation"])(
    "needs %s",
    (member) => {
      const rest = Object.fromEntries(Object.entries(subagentStart).filter(([name]) => name !== member));
      expect(broken("subagent-start", rest)).toEqual([` required ${member}`]);
    },
  );

  it.each<[string, Record<string, unknown>, string]>([
    ["subagent_session_id is a UUID", { subagent_session_id: "wf-1-spawn-1" }, "/subagent_session_id format"],
    ["subagent_session_id is a text", { subagent_session_id: 1 }, "/subagent_session_id type"],
    ["parent_session_id is a UUID", { parent_session_id: "" }, "/parent_session_id format"],
    ["parent_session_id is a text", { parent_session_id: null }, "/parent_session_id type"],
    ["parent_step_id is a text", { parent_step_id: 1 }, "/parent_step_id type"],
    ["intent_derivation is one of four", { intent_derivation: "inherit" }, "/intent_derivation enum"],
    ["subagent_intent is an intent", { subagent_intent: "x" }, "/subagent_intent type"],
    ["subagent_descriptor is an object", { subagent_descriptor: [] }, "/subagent_descriptor type"],
    ["agent_id is a text", { subagent_descriptor: { agent_id: 1 } }, "/subagent_descriptor/agent_id type"],
    [
      "agent_name is a text",
      { subagent_descriptor: { agent_name: 1 } },
      "/subagent_descriptor/agent_name type",
    ],
    ["model_id is a text", { subagent_descriptor: { model_id: 1 } }, "/subagent_descriptor/model_id type"],
  ])("%s", (_, changes, problem) => {
    expect(broken("subagent-start", { ...subagentStart, ...changes })).toEqual([problem]);
  });

  it("is an object", () => {
    expect(broken("subagent-start", "x")).toEqual([" type"]);
  });
});

describe.each([
  ["session-start", {}, "intent"],
  ["subagent-start", subagentStart, "subagent_intent"],
])("the intent in %s", (schema, payload, member) => {
  it.each<[string, Record<string, unknown>, string]>([
    ["raw is a text", { raw: 1 }, "/raw type"],
    ["parsed is a list", { parsed: {} }, "/parsed type"],
    ["a capability is an object", { parsed: [{}, "Read"] }, "/parsed/1 type"],
    ["tool is a text", { parsed: [{ tool: 1 }] }, "/parsed/0/tool type"],
    ["operation is a text", { parsed: [{ operation: [] }] }, "/parsed/0/operation type"],
    ["resource is a text", { parsed: [{ resource: null }] }, "/parsed/0/resource type"],
    ["parsed has a provenance", { parser_provenance: undefined }, " dependentRequired parser_provenance"],
    ["scope_mode is one of three", { scope_mode: "STRICT" }, "/scope_mode enum"],
    ["a provenance is an object", { parser_provenance: "p" }, "/parser_provenance type"],
    [
      "a provenance has an id",
      { parser_provenance: { origin: "system" } },
      "/parser_provenance required provenance_id",
    ],
    [
      "a provenance has an origin",
      { parser_provenance: { provenance_id: "p" } },
      "/parser_provenance required origin",
    ],
    [
      "the id is a text",
      { parser_provenance: { ...provenance, provenance_id: 1 } },
      "/parser_provenance/provenance_id type",
    ],
    [
      "the origin is one of seven",
      { parser_provenance: { ...provenance, origin: "model" } },
      "/parser_provenance/origin enum",
    ],
    [
      "source_id is a text",
      { parser_provenance: { ...provenance, source_id: 1 } },
      "/parser_provenance/source_id type",
    ],
    [
      "derived_from is a list",
      { parser_provenance: { ...provenance, derived_from: "p" } },
      "/parser_provenance/derived_from type",
    ],
    [
      "what it is derived from is named by texts",
      { parser_provenance: { ...provenance, derived_from: ["p", 1] } },
      "/parser_provenance/derived_from/1 type",
    ],
  ])("%s", (_, changes, problem) => {
    expect(broken(schema, { ...payload, [member]: { ...intent, ...changes } })).toEqual([
      `/${member}${problem}`,
    ]);
  });

  it.each(["user_input", "system", "tool_output", "retrieved", "agent_generated", "a2a_inbound", "external"])(
    "may come from %s",
    (origin) => {
      const changed = { ...intent, parser_provenance: { provenance_id: "p", origin } };
      expect(broken(schema, { ...payload, [member]: changed })).toEqual([]);
    },
  );

  it.each(["strict", "moderate", "permissive"])("may be %s", (scope_mode) => {
    expect(broken(schema, { ...payload, [member]: { ...intent, scope_mode } })).toEqual([]);
  });
});
