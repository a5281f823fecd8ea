import { describe, expect, it } from "vitest";
import { REASON_CODES, type Refused, reasons, refusalOf } from "../../../src/guard/reasons.ts";
import { checkGivenPayload } from "../../../src/payload/given-payload.ts";
import { readProtocol } from "../../support/protocol-texts.ts";
import { payload } from "../guard/spawn-states.ts";

const ISOLATION = readProtocol("subagent-isolation.md");
const UNTRUSTED = readProtocol("untrusted-content-wrapping.md");

/** Every refusal that the guard has words for, as it stands in src/guard/reasons.ts. */
const REFUSALS: Record<Exclude<keyof typeof reasons, "workflowAsk" | "nearLimit">, Refused[]> = {
  depth: [reasons.depth(4, 3), reasons.depth(1, 0)],
  lineage: [reasons.lineage("why", 3)],
  parentMismatch: [reasons.parentMismatch("a", "b"), reasons.parentMismatch("a", null)],
  spawnsExhausted: [reasons.spawnsExhausted(200, 200)],
  concurrency: [reasons.concurrency(20, 20)],
  children: [reasons.children(20, 20)],
  sessionTokens: [reasons.sessionTokens(1, 2, 3, 4)],
  overCap: [reasons.overCap("a field")],
  payloadMissing: [reasons.payloadMissing("block")],
  payloadInvalid: [reasons.payloadInvalid("a field")],
  payloadAmbiguous: [reasons.payloadAmbiguous(2)],
  roleUnknown: [reasons.roleUnknown("x")],
  roleBroken: [reasons.roleBroken("x", "why")],
  roleMismatch: [reasons.roleMismatch("a", "b")],
  ranAsAnother: [reasons.ranAsAnother("a", "b")],
  orphaned: [reasons.orphaned("a")],
  workflow: [reasons.workflow()],
  overParent: [reasons.overParent("what")],
  nothingToHandOn: [reasons.nothingToHandOn("x")],
  intentUnreadable: [reasons.intentUnreadable("x", "why")],
  beyondRights: [reasons.beyondRights(["Bash"], "yours", ["Read"])],
  beyondIntent: [reasons.beyondIntent(["*"], ["Read"])],
  notRecorded: [reasons.notRecorded("why")],
  toolNotAllowed: [reasons.toolNotAllowed("why")],
  exhausted: (["tool_calls", "turns", "input_tokens", "time"] as const).map((limit) =>
    reasons.exhausted(limit, "text"),
  ),
  stopped: [reasons.stopped()],
  unreachable: [reasons.unreachable("a", "why")],
  notJudged: [reasons.notJudged()],
  traceReused: [reasons.traceReused("a", "block")],
};

const BARRED = REASON_CODES.map(refusalOf).filter(({ reason }) => !reason.includes("was not admitted."));
const ALL = [...Object.values(REFUSALS).flat(), ...BARRED];

/** What a reason tells its reader to do, and the row of subagent-isolation.md that says the same. */
const STEPS: [RegExp, string][] = [
  [/Wait until one has ended/, "Wait until a spawn has ended, and call again"],
  [
    /,? (?:and|to them and) call again/,
    "Mend what the reason names and build again, or without the builder use the block that it offers, and call once more",
  ],
  [/Use one of the roles|use another role/, "Use a role that can be used"],
  [/Work with what it has handed back/, "Work with what the agent has handed back: it may not go on"],
  [/status partial/, "Call no more tools; return what you have, with status partial"],
  [/You have been stopped/, "Call no more tools: you have been stopped"],
  [/work with the tools you have, and do not delegate/, "Go on with the tools that you have"],
  [/Do the work yourself/, "Do the work yourself with the tools that you have"],
];

function stepOf({ reason }: Refused): string {
  const step = STEPS.find(([words]) => words.test(reason));
  if (step === undefined) throw new Error(`no step for: ${reason}`);
  return step[1];
}

describe("subagent-isolation.md", () => {
  it("says for each reason code what its reason tells to do", () => {
    const said = new Map(
      ISOLATION.rows
        .filter(([step]) => STEPS.some(([, row]) => row === step))
        .map(([step, codes]) => [
          step,
          [...(codes ?? "").matchAll(/`([a-z_]+)`/g)].map(([, code]) => code).sort(),
        ]),
    );
    const told = new Map(
      STEPS.map(([, row]) => [
        row,
        [...new Set(ALL.filter((refused) => stepOf(refused) === row).map(({ code }) => code))].sort(),
      ]),
    );
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(told));
  });

  it("names every code there is", () => {
    expect(new Set(ALL.map(({ code }) => code))).toEqual(new Set(REASON_CODES));
  });
});

describe("untrusted-content-wrapping.md", () => {
  const open = '<untrusted_content source="L0:a" timestamp="2026-04-27T10:00:00Z">';
  const close = "</untrusted_content>";
  const listing = (prompt: string, wrapped = true) =>
    checkGivenPayload(payload({ untrusted_inputs: [{ source: "L0:a", wrapped }] }), prompt, {
      start: 0,
      end: 0,
    });

  const refusals = [
    listing(`${open}\ntext\n${close}`, false),
    listing("text"),
    listing(`${open}\ntext\n${close}\n${close}`),
    listing(`${open}\n${open}\ntext\n${close}`),
    listing(`${open}\ntext`),
  ].map((checked) => (checked.ok ? [] : checked.problems.map(({ problem }) => problem)));
  const rows = UNTRUSTED.rows.filter(([, words]) => /^"[a-z ,]+"$/.test(words ?? ""));

  it.each([
    ["L0:state:arguments", { active_files: ["src/a.ts"] }, true],
    ["L0:state:arguments", { active_files: ["src/a.ts"], notes: `${open}\ntext\n${close}` }, true],
    ["L0:state:arguments", {}, false],
    ["L0:state:arguments", { notes: "a bare text" }, false],
    ["L0:state:arguments", { "no plain name": 1 }, false],
    ["L0:b", { active_files: ["src/a.ts"] }, false],
  ])("needs no envelope for the label of a plain state alone: %s %j: %s", (source, state_slice, ok) => {
    const given = payload({ untrusted_inputs: [{ source, wrapped: true }], state_slice });
    expect(checkGivenPayload(given, "", { start: 0, end: 0 }).ok).toBe(ok);
  });

  it("quotes a refusal a row, and there are no more", () => {
    expect(rows).toHaveLength(refusals.length);
  });

  it.each(rows.map(([what, words], at) => [what, words?.slice(1, -1), at] as const))(
    "%s: the reason says %j",
    (_, words, at) => {
      expect(refusals[at]?.join("; ")).toContain(words);
    },
  );
});
