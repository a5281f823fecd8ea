import { describe, expect, it } from "vitest";
import type { SpawnRequest, Target } from "../../../src/guard/spawn-request.ts";
import {
  admitted,
  caller,
  decide,
  giving,
  MAIN,
  payload,
  refused,
  request,
  type SpawnCaller,
  session,
  target,
} from "./spawn-states.ts";

const LEAD = caller({
  tools: ["Agent(product-manager, qa-engineer)", "Read", "Grep"],
  disallowed: ["WebFetch"],
  intent: ["*"],
  handsOn: ["product-manager", "qa-engineer"],
});

function asked(tools: string[], members: Partial<SpawnRequest> = {}): SpawnRequest {
  return giving(
    payload({ allowed_tools: tools, subagent_role: members.target?.role.name ?? "qa-engineer" }),
    {
      ...members,
    },
  );
}

describe("an attached spawn gets", () => {
  const rows: [string, SpawnCaller | null, Target, string[]][] = [
    ["everything below the main thread where its role has no list", null, target(), ["*"]],
    [
      "its role's list below the main thread",
      null,
      target({ tools: ["Read", "Bash(git log:*)"] }),
      ["Read", "Bash(git log:*)"],
    ],
    [
      "its caller's list where its role has none",
      caller({ tools: ["Read", "Grep"] }),
      target(),
      ["Read", "Grep"],
    ],
    ["what both have", caller({ tools: ["Read", "Grep"] }), target({ tools: ["Read", "Write"] }), ["Read"]],
    [
      "the narrower of two rules, whoever has it",
      caller({ tools: ["Bash(git:*)", "Write"] }),
      target({ tools: ["Bash(git log:*)", "Write(src/**)"] }),
      ["Bash(git log:*)", "Write(src/**)"],
    ],
    ["everything from a caller that has everything", caller(), target({ tools: ["Bash"] }), ["Bash"]],
    ["a star where its role's list is empty: the host gives it nothing", null, target({ tools: [] }), ["*"]],
    [
      "its own tools from a lead whose agent file lists it",
      LEAD,
      target({ name: "product-manager", tools: ["Read", "Write", "Edit"] }),
      ["Read", "Write", "Edit"],
    ],
    [
      "no more than the lead's where its file does not list it",
      LEAD,
      target({ name: "db-engineer", tools: ["Read", "Write"] }),
      ["Read"],
    ],
    [
      "no more than the lead's where another plugin has the name",
      LEAD,
      target({ name: "other:qa-engineer", origin: "foreign", tools: ["Read", "Write"] }),
      ["Read"],
    ],
  ];
  it.each(rows)("%s", (_, by, to, tools) => {
    const decision = decide(session(), request({ caller: by ?? MAIN, target: to }));
    expect(admitted(decision).record.payload.allowed_tools).toEqual(tools);
  });
});

describe("tools that a payload asks for by name", () => {
  const rows: [string, SpawnRequest, string[] | string][] = [
    ["within role and caller are granted as written", asked(["Read"]), ["Read"]],
    [
      "keep their spelling and order",
      asked(["Grep", "Bash(git log -1:*)"], { target: target({ tools: ["Bash(git log:*)", "Grep"] }) }),
      ["Grep", "Bash(git log -1:*)"],
    ],
    [
      "beyond the role's are refused",
      asked(["Read", "Bash"], { target: target({ tools: ["Read", "Bash(git log:*)"] }) }),
      "asks for Bash, which is not the role's. These would fit: Read, Bash(git log:*)",
    ],
    [
      "beyond the caller's are refused",
      asked(["Write"], { caller: caller({ tools: ["Write(src/**)"] }) }),
      "asks for Write, which is not yours. These would fit: Write(src/**)",
    ],
    [
      "of which nothing fits are refused so",
      asked(["WebFetch"], { caller: caller({ tools: ["Read"] }) }),
      "asks for WebFetch, which is not yours. Nothing of it would fit.",
    ],
    [
      "that cannot be read are refused",
      asked(["Bash(git"], { caller: caller({ tools: ["Read"] }) }),
      "asks for Bash(git",
    ],
    [
      "that are a star mean what the role and the caller have",
      asked(["*"], { caller: caller({ tools: ["Read"] }), target: target({ tools: ["Read", "Bash"] }) }),
      ["Read"],
    ],
    [
      "that are a star among others mean the same",
      asked(["Bash", "*"], { caller: caller({ tools: ["Read"] }) }),
      ["Read"],
    ],
    [
      "may be the role's own below a lead that lists it",
      asked(["Write"], {
        caller: LEAD,
        target: target({ name: "product-manager", tools: ["Read", "Write"] }),
      }),
      ["Write"],
    ],
    [
      "may not be beyond the role's own even then",
      asked(["Bash"], {
        caller: LEAD,
        target: target({ name: "product-manager", tools: ["Read", "Write"] }),
      }),
      "asks for Bash, which is not the role's",
    ],
  ];
  it.each(rows)("%s", (_, by, expected) => {
    const decision = decide(session(), by);
    if (typeof expected === "string") {
      expect(refused(decision).refused.code).toBe("intent_exceeded");
      expect(refused(decision).refused.reason).toContain(expected);
    } else expect(admitted(decision).record.payload.allowed_tools).toEqual(expected);
  });

  it("are granted when asked for as the refusal says", () => {
    const to = target({ tools: ["Read", "Bash(git log:*)"] });
    const { reason } = refused(decide(session(), asked(["Read", "Bash"], { target: to }))).refused;
    const fitting = /These would fit: (.*?)\. Keep/.exec(reason)?.[1]?.split(", ") ?? [];
    expect(decide(session(), asked(fitting, { target: to })).kind).toBe("admitted");
  });
});

describe("bans", () => {
  it.each<[string, SpawnCaller | null, string[], string[]]>([
    ["of the role bind it", null, ["Bash"], ["Bash"]],
    [
      "of the caller are inherited (case 86)",
      caller({ disallowed: ["WebFetch", "Agent"] }),
      [],
      ["WebFetch", "Agent"],
    ],
    ["add up, each once", caller({ disallowed: ["Bash", "WebFetch"] }), ["Bash"], ["Bash", "WebFetch"]],
    ["of a lead stay with it where it hands on a role's own tools", LEAD, ["Bash"], ["Bash"]],
  ])("%s", (_, by, disallowedTools, bans) => {
    const to = target({ disallowedTools });
    const { record } = admitted(decide(session(), request({ caller: by ?? MAIN, target: to })));
    expect(record.disallowed).toEqual(bans);
  });
});

describe("what a role's file lets it hand on", () => {
  it.each([
    [
      ["Agent(product-manager, qa-engineer)", "Read"],
      ["product-manager", "qa-engineer"],
    ],
    [
      ["Agent(a)", "Task(b)"],
      ["a", "b"],
    ],
    [["Agent", "Read"], []],
    [["*"], []],
    [null, []],
  ])("with tools %j is remembered with the spawn: %j", (tools, handsOn) => {
    expect(admitted(decide(session(), request({ target: target({ tools }) }))).record.handsOn).toEqual(
      handsOn,
    );
  });

  it("is not what the prompt's payload says", () => {
    const { record } = admitted(decide(session(), asked(["Agent(product-manager)"])));
    expect(record.handsOn).toEqual([]);
  });
});

describe("bans add up along the chain (case 86)", () => {
  const handed = target({ name: "product-manager", tools: ["Read", "Bash"], disallowedTools: ["WebFetch"] });
  it.each([
    ["its own file's and all of its caller's", caller({ disallowed: ["Bash"] }), ["WebFetch", "Bash"]],
    [
      "below a lead that hands it its tools, without the lead's own",
      { ...LEAD, disallowed: ["Write", "Edit"], inheritedBans: ["Write"] },
      ["WebFetch", "Write"],
    ],
  ])("a spawn has %s", (_, by, banned) => {
    const { record } = admitted(decide(session(), request({ caller: by, target: handed })));
    expect(record.disallowed).toEqual(banned);
    expect(record.inheritedBans).toEqual(banned.slice(1));
  });
});
