import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../../../src/acs/envelope.ts";
import { childSession, rootSession, stepId } from "../../../src/acs/session-id.ts";
import { patience, rounds } from "../../process/race/rounds.ts";
import { broken } from "../../support/acs-schemas.ts";
import { chainsOf, stepsOf, verified } from "../../support/receipts.ts";
import { DecidedSession } from "../../unit/ledger/decided-session.ts";
import { anyOrder, chanceFrom, RecordedRun } from "./recorded-run.ts";
import { replayInto } from "./replay-into.ts";

const ORDERS = rounds("ORDERS", 4);

const names = readdirSync(join(import.meta.dirname, "../../recordings")).map((file) =>
  file.replace(/\.ndjson$/, ""),
);

const SCHEMAS = new Map([
  ["steps/sessionStart", "session-start"],
  ["steps/subagentStart", "subagent-start"],
]);

describe.each(names)("the receipts of the recording %s", (name) => {
  const run = new RecordedRun(name);

  it("are whole, valid and linked, in its own order and in any other", patience(ORDERS), async () => {
    const recorded = run.steps.map(({ index }) => index);
    for (let seed = 0; seed <= ORDERS; seed++) {
      const order = seed === 0 ? recorded : anyOrder(run.causes(), chanceFrom(seed));
      const label = `order ${seed}: ${order.join(" ")}`;
      const session = new DecidedSession(run.sessionId);
      try {
        await replayInto(session, run, order);
        const { broken, notices } = verified(session);
        expect({ label, broken, notices }).toEqual({ label, broken: [], notices: [] });
        const chains = chainsOf(session);
        expect(invalid([...chains.values()].flat()), label).toEqual([]);
        expect(unlinked(session, chains), label).toEqual([]);
      } finally {
        session.remove();
      }
    }
  });
});

function invalid(receipts: readonly Receipt[]): string[] {
  return receipts.flatMap(({ request: { method, params } }) => {
    const schema = SCHEMAS.get(method);
    return schema === undefined ? [] : broken(schema, params.payload).map((problem) => `${method}${problem}`);
  });
}

/** Admitted spawns without the receipts that they have to have. */
function unlinked(session: DecidedSession, chains: ReadonlyMap<string, Receipt[]>): string[] {
  const root = rootSession(session.sessionId);
  const { spawns } = session.ledger();
  const chainIdOf = (trace: string | null) => {
    const spawn = spawns.find((candidate) => candidate.trace === trace);
    return spawn === undefined ? root : childSession(root, spawn);
  };
  return spawns.flatMap((spawn) => {
    const { trace, parent, origin, call, agent, phase } = spawn;
    const above = chains.get(chainIdOf(parent)) ?? [];
    const child = childSession(root, spawn);
    const own = chains.get(child) ?? [];
    const about = above.filter(({ request }) => request.params.payload.subagent_session_id === child);
    const starts = about.filter(({ request }) => request.method === "steps/subagentStart");
    const stops = about.filter(({ request }) => request.method === "steps/subagentStop");
    const problems: string[] = [];
    if (starts.length === 0) problems.push("no subagentStart");
    const parentStep = starts[0]?.request.params.payload.parent_step_id;
    const before = above.find(({ request }) => request.id === parentStep);
    if (before === undefined) problems.push("no step that it comes from");
    if (
      origin !== "adopted" &&
      parentStep !== stepId(chainIdOf(parent), "steps/toolCallRequest", String(call))
    )
      problems.push("comes from no toolCallRequest");
    const final = own.findLast(({ request }) => request.method === "steps/sessionEnd");
    if (agent === null && own.length > 0) problems.push("a chain of its own, and it never ran");
    if (agent !== null && stepsOf(own)[0] !== "sessionStart") problems.push("no chain of its own");
    if (stepsOf(own).filter((step) => step === "sessionStart").length > 1) problems.push("opened twice");
    if (phase === "ended") {
      // What outlives it, such as a child in the background, may still end on its chain.
      if (agent !== null && final === undefined) problems.push("its chain is not closed");
      if (stops.at(-1)?.request.params.payload.final_chain_hash !== final?.entry.entry_hash)
        problems.push("its end does not name its chain's");
      if (stops.length !== starts.length) problems.push(`${starts.length} starts, ${stops.length} stops`);
    }
    return problems.map((problem) => `${trace}: ${problem}`);
  });
}
