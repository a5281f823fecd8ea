import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runBuild } from "../../../src/cli/build-command.ts";
import { parseBuildJson } from "../../../src/cli/build-json.ts";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { runCli } from "../../../src/cli/run-cli.ts";
import { limitText, RESPONSES_AFTER_DENIAL, TOLD_AT, TURNS_KEPT } from "../../../src/guard/budget.ts";
import { judgeContract, TOLERANCE } from "../../../src/guard/contract.ts";
import { MAX_TRACE_LENGTH } from "../../../src/guard/decide-spawn.ts";
import { asRepeated, REASON_CODES, reasons } from "../../../src/guard/reasons.ts";
import { estimateTokens } from "../../../src/ledger/meter.ts";
import { asEnvelopeText, inertJson } from "../../../src/payload/inert-text.ts";
import { CONTRACT_STATUSES } from "../../../src/payload/return-contract.ts";
import { isSourceLabel, LABEL_MAX, SOURCE_FORM } from "../../../src/payload/source-label.ts";
import { isWrapped } from "../../../src/payload/state-slice.ts";
import { formatTraceId, isRun, TRACE_ID_PATTERN } from "../../../src/payload/trace-id.ts";
import { wrapUntrusted } from "../../../src/payload/untrusted-content.ts";
import { checkContract } from "../../../src/payload/validate.ts";
import {
  DEFAULT_POLICY,
  POLICY_KEYS,
  POLICY_RULES,
  type PolicyKey,
} from "../../../src/policy/policy-keys.ts";
import { BUILTIN_ROLES } from "../../../src/roles/builtin-roles.ts";
import { PLUGIN_ROLES } from "../../../src/roles/plugin-roles.generated.js";
import { PLUGIN_SCOPE } from "../../../src/roles/plugin-scope.ts";
import { spawnableRoles } from "../../../src/roles/tool-list.ts";
import { isCommand, readProtocol, WRITTEN } from "../../support/protocol-texts.ts";
import { aWorld, PLUGIN_ROOT } from "../cli/world.ts";
import { admitted, caller, decide, MAIN, record, request, session } from "../guard/spawn-states.ts";

type Schema = { properties?: Record<string, Schema>; items?: Schema };

const PROTOCOLS = WRITTEN.map(readProtocol);
const FLAGS = await flags();
const BUILT: Record<string, Record<string, unknown>> = JSON.parse(
  runBuild(["--role", "db-engineer", "--task", "plan the orders table"], aWorld()).stdout,
);
const PROMPT = admitted(decide(session(), request())).input.prompt;
const ENVELOPE = wrapUntrusted({ source: "L0:a", text: "a" }, "2026-04-27T10:00:00Z");

/** The names that the code knows. */
const NAMES = new Set<string>([
  ...POLICY_KEYS,
  ...REASON_CODES,
  ...CONTRACT_STATUSES,
  ...fieldsOf("spawn-payload"),
  ...fieldsOf("return-contract"),
  ...Object.keys(BUILT),
  ...Object.keys(BUILT.agent_input ?? {}),
  ...agentInputs(),
  ...(TRACE_ID_PATTERN.source.match(/[a-z]{2,}/g) ?? []),
  ...(ENVELOPE.match(/[a-z]+(?==)/g) ?? []),
  ...["nothing", "<return_contract>{}</return_contract>"].map(
    (message) => judgeContract(record(), message, checkContract).state,
  ),
]);

/** Texts that are no names, each with what makes it true. */
const TEXTS: Record<string, () => boolean> = {
  "<spawn_payload>": () => /^<spawn_payload>$/m.test(PROMPT),
  "</spawn_payload>": () => /^<\/spawn_payload>$/m.test(PROMPT),
  "<return_contract>": () => String(BUILT.agent_input?.prompt).includes("\n<return_contract>\n"),
  "</return_contract>": () => String(BUILT.agent_input?.prompt).includes("\n</return_contract>\n"),
  '<untrusted_content source="…" timestamp="…">': () =>
    ENVELOPE.replace(/"[^"]*"/g, '"…"').startsWith('<untrusted_content source="…" timestamp="…">\n'),
  "</untrusted_content>": () => ENVELOPE.endsWith("\n</untrusted_content>"),
  "[spawn-guard]": () => /\n\[spawn-guard\] .*$/.test(PROMPT),
  "[spawn-guard] You are spawn …": () => /\n\[spawn-guard\] You are spawn wf-.*$/.test(PROMPT),
  "Already refused": () =>
    asRepeated(reasons.depth(4, 3), 2).reason.startsWith("Already refused (depth_exceeded)"),
  "Agent(a, b)": () => String(spawnableRoles(["Agent(a, b)"])) === "a,b",
  "Write only migrations/0042_orders.sql": () =>
    readProtocol("spawn-pattern.md").text.includes('"Write only'),
  "Budget used up: tool calls 100/100.": () =>
    reasons
      .exhausted("tool_calls", limitText({ limit: "tool_calls", used: 100, bound: 100 }))
      .reason.startsWith("Budget used up: tool calls 100/100. "),
  "spawn-guard:<role>": () => PLUGIN_SCOPE === "spawn-guard:",
  "/subagent-spawn": () => existsSync("plugin/skills/subagent-spawn/SKILL.md"),
  '"ok"': () => String(BUILT.validation) === "ok",
  maxTurns: () => readFileSync("plugin/agents/db-engineer.md", "utf8").includes("\nmaxTurns: "),
  "wf-<YYYYMMDD>-<random6>-spawn-<seq>": () =>
    formatTraceId({ date: "20260427", run: "abc123", seq: 1 }) === "wf-20260427-abc123-spawn-001",
  "<": () => asEnvelopeText("<") === "&lt;",
  ">": () => asEnvelopeText(">") === "&gt;",
  "&": () => asEnvelopeText("&") === "&amp;",
  "\\u003c": () => inertJson("<") === '"\\u003c"',
  "\\u003e": () => inertJson(">") === '"\\u003e"',
  "\\u0026": () => inertJson("&") === '"\\u0026"',
  "L2:": () => isSourceLabel("L2:a"),
  "L4:": () => isSourceLabel("L4:a"),
  "subagent:…": () => SOURCE_FORM.includes("subagent:<"),
};

describe.each(PROTOCOLS)("the words of $file", ({ codes, text, prose }) => {
  // Commands are run by test/process/team-protocols.test.ts.
  it.each(codes.filter((code) => !isCommand(code)))("`%s` is one that the code knows", (code) => {
    const text = TEXTS[code];
    if (text !== undefined) expect(text()).toBe(true);
    else if (code.startsWith("--")) expect(FLAGS).toContain(code.split(" ")[0]);
    else if (code.includes(":<")) expect(SOURCE_FORM).toContain(code);
    else if (code.includes(":")) expect(isSourceLabel(code)).toBe(true);
    else expect(NAMES.has(code) || isArgument(code)).toBe(true);
  });

  it("that have an underscore are known without backticks too", () => {
    const names = prose.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
    expect(names.filter((name) => !NAMES.has(name))).toEqual([]);
  });

  it("for a mode or a status are of those that there are", () => {
    for (const [, key = "", word = ""] of text.matchAll(/`([a-z_]+)` ([a-z]+)/g)) {
      const rule = isPolicyKey(key) ? POLICY_RULES[key] : undefined;
      if (rule?.kind === "choice") expect(rule.choices).toContain(word);
    }
    const statuses = [...prose.matchAll(/\bstatus ([a-z_]+)/g)].map(([, status]) => status);
    expect(CONTRACT_STATUSES).toEqual(expect.arrayContaining(statuses));
  });
});

const { goal: GOAL, constraints: CONSTRAINTS } = JSON.parse(
  readFileSync("plugin/schemas/spawn-payload.schema.json", "utf8"),
).properties;

/** What each protocol says with a number, made from the code. */
const { subagent_max_depth: depth, runaway_factor: factor, session_token_hard_cap: cap } = DEFAULT_POLICY;
const CLAIMS: Record<(typeof WRITTEN)[number], string[]> = {
  "subagent-isolation.md": [
    `A spawn of the main thread stands at depth ${depthOf(0)}, a spawn that it makes at depth ${depthOf(1)}.`,
    `With \`subagent_max_depth\` ${depth} a call made at depth ${depth} would stand at depth ${depth + 1} and is refused`,
  ],
  "untrusted-content-wrapping.md": [
    `One line of at most ${LABEL_MAX} characters`,
    `unless it is plain: at most ${longestPlain()} letters`,
  ],
  "spawn-pattern.md": [
    `stand in \`task\` (${GOAL.minLength} to ${GOAL.maxLength} characters)`,
    `\`constraints\` (at most ${CONSTRAINTS.maxItems}, each of ${CONSTRAINTS.items.minLength} characters or more)`,
    `the plugin's ${PLUGIN_ROLES.length} roles and Claude Code's ${BUILTIN_ROLES.length},`,
    `${lengthOfRun()} of 0-9 and a-z`,
    `a number of ${traceNumber().length} digits or more`,
    `${MAX_TRACE_LENGTH} characters at most`,
    `the random part is new and the number ${traceNumber()}.`,
    `**Told at ${TOLD_AT * 100} %.**`,
    `when it has used ${TOLD_AT * 100} % of a limit`,
    `**\`runaway_factor\` ${factor}.**`,
    `denied at ${factor} times it`,
    `**Turns** close ${TURNS_KEPT} before \`max_turns\`, and ${TURNS_KEPT} before the agent file's \`maxTurns\``,
    `still calls tools ${RESPONSES_AFTER_DENIAL} responses after a denied one`,
    `\`session_token_hard_cap\` ${cap} `,
  ],
  "return-contract.md": [
    `estimated as bytes / ${1000 / estimateTokens("x".repeat(1000))}.`,
    `by more than ${TOLERANCE * 100} %`,
    `**\`contract_mode\` ${DEFAULT_POLICY.contract_mode}** (the default)`,
  ],
};

describe.each(PROTOCOLS)("the numbers of $file", ({ text, file }) => {
  const claims = Object.entries(CLAIMS).find(([name]) => name === file)?.[1] ?? [];

  it.each(claims)("%s", (claim) => {
    expect(text).toContain(claim);
  });

  it("are all in one of these", () => {
    const rest = claims.reduce((left, claim) => left.replaceAll(claim, ""), withoutMade(text));
    // Texts in backticks are held above.
    expect(rest.replace(/`[^`\n]+`/g, "").match(/.*\d.*/g)).toBeNull();
  });
});

/** The text less fences, made tables and the numbers of a list. */
function withoutMade(text: string): string {
  return text
    .replace(/^```\w*\n[\s\S]*?^```$/gm, "")
    .replace(/<!-- table [a-z-]+ -->\n(?:\|.*\n)*/g, "")
    .replace(/^\d\. /gm, "");
}

function depthOf(callerDepth: number): number {
  const by = callerDepth === 0 ? MAIN : caller({ depth: callerDepth });
  return admitted(decide(session(), request({ caller: by }))).record.depth;
}

/** Characters of the longest text in a state slice that needs no envelope. */
function longestPlain(): number {
  const lengths = Array.from({ length: 1000 }, (_, at) => at + 1);
  return lengths.findLast((length) => isWrapped("x".repeat(length))) ?? 0;
}

function lengthOfRun(): number {
  return [..."0123456789"].map(Number).find((length) => isRun("a0z9k5m3x1".slice(0, length))) ?? 0;
}

/** The number in the trace id that the builder makes up. */
function traceNumber(): string {
  return String(BUILT.spawn_payload?.trace_id).replace(/.*-/, "");
}

function isPolicyKey(key: string): key is PolicyKey {
  return Object.hasOwn(POLICY_RULES, key);
}

/** Whether `spawn-guard build --json` knows an argument of this name, whatever its value. */
function isArgument(name: string): boolean {
  const parsed = parseBuildJson(JSON.stringify({ role: "r", task: "t", [name]: null }));
  return (
    /^[a-z_]+$/.test(name) && !(parsed.kind === "usage" && parsed.problem.includes("is not a known argument"))
  );
}

function fieldsOf(schema: string): string[] {
  const inside = ({ properties = {}, items = {} }: Schema, parent: string): string[] => [
    ...Object.entries(properties).flatMap(([name, field]) => [
      name,
      parent + name,
      ...inside(field, `${parent}${name}.`),
    ]),
    ...Object.keys(items.properties ?? {}),
  ];
  return inside(JSON.parse(readFileSync(`plugin/schemas/${schema}.schema.json`, "utf8")), "");
}

/** What Agent calls took in sessions recorded in the real host. */
function agentInputs(): string[] {
  const lines = readdirSync("test/recordings").flatMap((file) =>
    file.endsWith(".ndjson") ? readFileSync(`test/recordings/${file}`, "utf8").trim().split("\n") : [],
  );
  return lines
    .map((line) => JSON.parse(line).input)
    .filter((input) => input?.tool_name === "Agent" && typeof input.tool_input === "object")
    .flatMap((input) => Object.keys(input.tool_input));
}

async function flags(): Promise<Set<string>> {
  const place = { pluginRoot: PLUGIN_ROOT, cwd: "." };
  const helps = await Promise.all(COMMANDS.map(({ name }) => runCli([name, "--help"], place, "0")));
  return new Set(helps.flatMap(({ stdout }) => stdout.match(/--[a-z-]+/g) ?? []));
}
