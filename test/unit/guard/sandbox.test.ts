import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { caller, giving, NOW, PARENT, payload, policy, record, request, session } from "./spawn-states.ts";

/** What hooks ask of the guard; it has to run where there is no Node as well (DESIGN "Layout"). */
const ENTRY = `
export { decideSpawn } from "./src/guard/decide-spawn.ts";
export { judgeBudget, judgeBatch, nearLimits } from "./src/guard/budget.ts";
export { judgeContract } from "./src/guard/contract.ts";
export { walkLineage } from "./src/guard/lineage.ts";
export { outcomeLine } from "./src/guard/outcome-line.ts";
export { softCapNote } from "./src/guard/session-tokens.ts";
export { allows } from "./src/guard/tools/allows.ts";
export { disallows } from "./src/guard/tools/disallows.ts";
export { parseToolRule } from "./src/guard/tools/tool-rule.ts";
export { checkPayload, checkContract } from "./src/payload/validate.ts";
export { resolvePolicy } from "./src/policy/resolve-policy.ts";
export { covers, isSubset } from "./src/acs/capability.ts";
export { redact } from "./src/acs/redact.ts";
export { capabilitiesOf } from "./src/acs/rule-capabilities.ts";
`;

let code = "";
let imported: string[] = [];
beforeAll(async () => {
  const result = await build({
    stdin: { contents: ENTRY, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    write: false,
    metafile: true,
    platform: "neutral",
    format: "iife",
    globalName: "guard",
    logLevel: "silent",
  });
  code = result.outputFiles[0]?.text ?? "";
  imported = Object.values(result.metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
});

/** Runs an expression where there is nothing but the language and the web's TextEncoder; values pass as JSON. */
function inSandbox(expression: string, values: Record<string, unknown>): unknown {
  const context = createContext(
    { TextEncoder, values: JSON.stringify(values) },
    { codeGeneration: { strings: false, wasm: false } },
  );
  const source = `${code}; (() => { const given = JSON.parse(values); return JSON.stringify(${expression}); })()`;
  return JSON.parse(String(runInContext(source, context)));
}

describe("the guard in a sandbox without Node", () => {
  it("asks for no module that is not in it", () => {
    expect(imported).toEqual([]);
    expect(code.length).toBeGreaterThan(10_000);
  });

  it("admits a spawn, and refuses one", () => {
    const decide = `guard.decideSpawn(given.session, {...given.request, traceUsed: () => false})`;
    expect(inSandbox(decide, { session: session(), request: request() })).toMatchObject({
      kind: "admitted",
      record: { trace: PARENT, depth: 1 },
    });
    expect(
      inSandbox(decide, { session: session(), request: request({ caller: caller({ depth: 3 }) }) }),
    ).toMatchObject({
      kind: "refused",
      refused: { code: "depth_exceeded" },
    });
    const given = giving(payload({ allowed_tools: ["Bash(git log:*)", "Read(src/**)"] }));
    expect(inSandbox(decide, { session: session(), request: given })).toMatchObject({ kind: "admitted" });
  });

  it("compares capabilities, and takes secrets out", () => {
    const subset = "guard.isSubset(guard.capabilitiesOf(given.outer), guard.capabilitiesOf(given.inner))";
    expect(inSandbox(subset, { outer: ["Read(src/**)"], inner: ["Read(src/a b)"] })).toBe(true);
    const covers = "guard.covers({ resource: given.outer }, { resource: given.inner })";
    expect(inSandbox(covers, { outer: "file:./src/*", inner: "file:./src/../a" })).toBe(false);
    expect(inSandbox("guard.redact(given)", { token: "abc", a: "x=1 TOKEN=abc" })).toEqual({
      token: "[redacted:secret]",
      a: "x=1 TOKEN=[redacted:secret]",
    });
  });

  it("judges budgets", () => {
    const spawn = { ...record(), meter: { ...record().meter, toolCalls: 10 } };
    const values = { spawn, policy: policy(), now: NOW };
    expect(inSandbox(`guard.judgeBudget(given.spawn, "c1", given.policy, given.now)`, values)).toMatchObject({
      refused: { code: "tool_calls_exhausted" },
    });
    expect(inSandbox(`guard.judgeBatch(given.spawn, ["c1"], given.policy, given.now)`, values)).toMatchObject(
      {
        meter: { toolCalls: 11, turns: 1 },
      },
    );
  });

  it("judges contracts, lineage, tools and policies, and checks payloads", () => {
    const contract = `<return_contract>{"trace_id": "${PARENT}", "status": "ok", "result": {"summary": "all is done"}}</return_contract>`;
    expect(
      inSandbox(`guard.judgeContract(given.spawn, given.contract, guard.checkContract)`, {
        spawn: record(),
        contract,
      }),
    ).toMatchObject({ state: "valid" });
    expect(inSandbox(`guard.walkLineage(given.spawn, () => null, 0)`, { spawn: record() })).toEqual({
      known: true,
    });
    expect(inSandbox(`guard.outcomeLine(given.spawn, 0, 0)`, { spawn: record() })).toContain(PARENT);
    const use = {
      tool: "Bash",
      input: { command: "git log; rm x" },
      cwd: "/p",
      projectDir: "/p",
      home: "/h",
    };
    const allowed = `guard.allows(given.rules.map(guard.parseToolRule), given.use)`;
    expect(inSandbox(allowed, { rules: ["Bash(git log:*)"], use })).toMatchObject({ allowed: false });
    expect(inSandbox(allowed, { rules: ["Bash"], use })).toEqual({ allowed: true });
    const file = { ...use, tool: "Read", input: { file_path: "src/a.ts" } };
    expect(inSandbox(allowed, { rules: ["Read(src/**)"], use: file })).toEqual({ allowed: true });
    expect(inSandbox(`guard.checkPayload(given.payload)`, { payload: payload() })).toMatchObject({
      ok: true,
    });
    const sources = [{ name: "user option", trust: "user", values: { subagent_max_depth: "1" } }];
    expect(inSandbox(`guard.resolvePolicy(given.sources)`, { sources })).toMatchObject({
      policy: { subagent_max_depth: 1 },
    });
  });
});
