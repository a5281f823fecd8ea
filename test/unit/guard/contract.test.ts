import { describe, expect, it } from "vitest";
import { askFor, findContract, judgeContract } from "../../../src/guard/contract.ts";
import { checkContract } from "../../../src/payload/validate.ts";
import { deepFreeze, metered, PARENT, record } from "./spawn-states.ts";

const REAL = `{"trace_id": "${PARENT}", "status": "ok", "result": {"summary": "all of it is done"}}`;
const EXAMPLE = `{"trace_id": "<your trace_id>", "status": "ok|partial", "result": {"summary": "…"}}`;
const real = JSON.parse(REAL);

function tagged(inside: string): string {
  return `<return_contract>\n${inside}\n</return_contract>`;
}

describe("the contract in a last message", () => {
  it.each([
    ["tags on lines of their own", `My report.\n${tagged(REAL)}\n`],
    ["tags and JSON on one line", `My report.\n<return_contract>${REAL}</return_contract>`],
    [
      "tags and JSON on one line, braces before it",
      `see {a} and }\n<return_contract>${REAL}</return_contract>`,
    ],
    ["an opening tag on the JSON's first line", `see {a}\n<return_contract>${REAL}\n</return_contract>`],
    ["a closing tag on the JSON's last line", `see {a}\n<return_contract>\n${REAL}</return_contract>`],
    ["spaces and tabs beside the tags", ` \t<return_contract>  \n${REAL}\n\t</return_contract> `],
    ["CRLF", `My report.\r\n${tagged(JSON.stringify(real, null, 2)).replaceAll("\n", "\r\n")}\r\n`],
    ["a fence around the tags", `\`\`\`\n${tagged(REAL)}\n\`\`\``],
    ["a fence between the tags", tagged(`\`\`\`json\n${REAL}\n\`\`\``)],
    ["a text behind it", `${tagged(REAL)}\nThat is all, {really}.`],
    ["an example quoted before it", `The form is\n${tagged(EXAMPLE)}\nand mine is\n${tagged(REAL)}`],
    [
      "an example quoted before it on one line",
      `<return_contract>${EXAMPLE}</return_contract>\n${tagged(REAL)}`,
    ],
    ["an example that is never closed before it", `Begin with\n<return_contract>\nas here:\n${tagged(REAL)}`],
    ["a stray opening tag behind it", `${tagged(REAL)}\n<return_contract>\n`],
    ["tags named in a sentence", `I was asked for <return_contract> tags.\n${tagged(REAL)}`],
    ["a tag inside its text", tagged(REAL.replace("all of it", "</return_contract> all"))],
    ["no tags, and one JSON object alone", REAL],
    ["no tags, and one JSON object in prose", `Here it is: ${REAL} as asked.`],
    ["no tags, and one JSON object in a fence", `\`\`\`json\n${REAL}\n\`\`\``],
  ])("is found: %s", (_, message) => {
    expect(findContract(message)).toMatchObject({ json: { trace_id: PARENT, status: "ok" } });
  });

  it.each([
    ["no message", ""],
    ["no braces", "I have done all of it."],
    ["braces in prose", "use {a} or {b: {c}} as you like"],
    ["code", "function f() { return { a: 1 }; }"],
    ["two objects", `${REAL}\n${REAL}`],
    ["an object cut off", REAL.slice(0, -1)],
    ["braces the wrong way round", "} is closed before {"],
    ["tags in the middle of a sentence", "a <return_contract> goes there, then </return_contract> it ends"],
  ])("is missing: %s", (_, message) => {
    expect(findContract(message)).toBeNull();
  });

  it.each([
    ["an opening tag alone", `<return_contract>\n${REAL}`, "its tags do not pair"],
    ["a closing tag alone", `${REAL}\n</return_contract>`, "its tags do not pair"],
    ["tags the wrong way round", `</return_contract>\n${REAL}\n<return_contract>`, "its tags do not pair"],
    ["two closing tags", `${tagged(REAL)}\n</return_contract>`, "its tags do not pair"],
    ["no JSON between the tags", tagged("I am done"), "not JSON"],
    ["two values between the tags", tagged(`${REAL}\n${REAL}`), "not JSON"],
    ["nothing between the tags", tagged(""), "not JSON"],
  ])("cannot be read: %s", (_, message, problem) => {
    expect(findContract(message)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe("judging it", () => {
  const spawn = deepFreeze(record({ meter: metered(1000, 400, { toolCalls: 8 }) }));
  const judge = (contract: unknown) => judgeContract(spawn, tagged(JSON.stringify(contract)), checkContract);

  it.each(["in_progress", "ok", "needs_clarification", "failed", "partial"])(
    "status %s is valid",
    (status) => {
      expect(judge({ ...real, status })).toEqual({ state: "valid", status, problem: null, asked: false });
    },
  );

  it.each<[string, unknown, string]>([
    ["no object", [real], "return contract"],
    ["null", null, "return contract"],
    ["an unknown status", { ...real, status: "done" }, "status"],
    ["no result", { trace_id: PARENT, status: "ok" }, "result"],
    ["too short a summary", { ...real, result: { summary: "done" } }, "result.summary"],
    ["an unknown member", { ...real, verdict: "good" }, "verdict"],
    ["a negative count", { ...real, tool_calls: -1 }, "tool_calls"],
    [
      "another spawn's trace id",
      { ...real, trace_id: "wf-20261130-zzzzzz-spawn-002" },
      `this spawn is ${PARENT}`,
    ],
  ])("%s is invalid", (_, contract, words) => {
    const judged = judge(contract);
    expect(judged).toMatchObject({ state: "invalid", status: null });
    expect(judged.problem).toContain(words);
  });

  it("says that there is none", () => {
    expect(judgeContract(spawn, "all done", checkContract)).toEqual({
      state: "missing",
      status: null,
      problem: "there is none in the last message",
      asked: false,
    });
  });

  it("remembers that it was asked for", () => {
    const asked = { state: "missing", status: null, problem: "…", asked: true } as const;
    for (const message of ["all done", tagged("{"), tagged(REAL)]) {
      expect(judgeContract({ ...spawn, contract: asked }, message, checkContract).asked).toBe(true);
    }
  });

  it.each([
    [{ tokens_used: { input: 1250, output: 500 }, tool_calls: 10 }, null],
    [{ tokens_used: { input: 750, output: 300 }, tool_calls: 6 }, null],
    [{ tokens_used: { input: 1251 } }, "says 1251 input tokens, measured 1000"],
    [
      { tokens_used: { output: 0 }, tool_calls: 11 },
      "says 0 output tokens, measured 400, says 11 tool calls, measured 8",
    ],
    [{ tokens_used: {} }, null],
  ])("compares what it says it used with what was measured: %j", (said, problem) => {
    expect(judge({ ...real, ...said })).toMatchObject({ state: "valid", problem });
  });
});

describe("asking for it", () => {
  const missing = { state: "missing", status: null, problem: "there is none", asked: false } as const;
  const valid = { state: "valid", status: "ok", problem: null, asked: false } as const;

  it.each([
    [missing, null, ["your return contract cannot be used: there is none. Repeat your full report, then"]],
    [valid, "too long", ["spawn-guard: too long. Repeat your full report, shortened to fit, then"]],
    [missing, "too long", ["there is none; too long. Repeat your full report, shortened to fit, then"]],
  ])("names what is wrong: %j, %s", (contract, tooLong, words) => {
    const text = askFor(contract, PARENT, tooLong);
    for (const word of words) expect(text).toContain(word);
    expect(text).toContain(`"trace_id": "${PARENT}"`);
    expect(text).toContain("Call no more tools.");
  });

  it("shows a form that is found when it is used", () => {
    const form = /<return_contract>.*<\/return_contract>/.exec(askFor(missing, PARENT, null))?.[0] ?? "";
    expect(findContract(`The {whole} report.\n${form}`)).toMatchObject({ json: { trace_id: PARENT } });
  });
});
