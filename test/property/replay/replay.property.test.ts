import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { patience, rounds } from "../../process/race/rounds.ts";
import { DecidedSession } from "../../unit/ledger/decided-session.ts";
import { anyOrder, chanceFrom, RecordedRun } from "./recorded-run.ts";
import { replayInto } from "./replay-into.ts";

const ORDERS = rounds("ORDERS", 8);
const MAX_DEPTH = 3;

const names = readdirSync(join(import.meta.dirname, "../../recordings")).map((file) =>
  file.replace(/\.ndjson$/, ""),
);

describe.each(names)("the recording %s", (name) => {
  const run = new RecordedRun(name);

  it(
    "means the same in its own order and in any that the host could have produced",
    patience(ORDERS),
    async () => {
      const recorded = run.steps.map(({ index }) => index);
      const seen = new Set<string>();
      for (let seed = 0; seed <= ORDERS; seed++) {
        const order = seed === 0 ? recorded : anyOrder(run.causes(), chanceFrom(seed));
        if (seen.has(order.join())) continue;
        seen.add(order.join());
        const label = `order ${seed}: ${order.join(" ")}`;
        expect({ label, ...(await replay(run, order)) }).toEqual({ label, ...expected(run) });
      }
    },
  );
});

type Meaning = {
  agents: Record<string, { parent: string | null; depth: number; outcome: string; doubt: string | null }>;
  /** tool_use_ids of the calls that were refused */
  denied: string[];
  admitted: number;
  running: object;
  damage: string[];
};

/** What the recording says by itself. */
function expected(run: RecordedRun): Meaning {
  const deep = (agent: string | null) => (agent === null ? 0 : run.agentOf(agent).depth);
  const denied = run.steps.filter(
    ({ name, actor, tool }) =>
      name === "PreToolUse" && (deep(actor) > MAX_DEPTH || (tool === "Agent" && deep(actor) >= MAX_DEPTH)),
  );
  return {
    agents: Object.fromEntries(
      run.agents.map(({ id, parent, depth, outcomes }) => [
        id,
        { parent, depth, outcome: outcomes.join(" or "), doubt: null },
      ]),
    ),
    denied: denied.map(({ id }) => String(id)).sort(),
    admitted: run.agents.length,
    running: {},
    damage: [],
  };
}

async function replay(run: RecordedRun, order: readonly number[]): Promise<Meaning> {
  const session = new DecidedSession(run.sessionId);
  try {
    return meaning(session, run, await replayInto(session, run, order));
  } finally {
    session.remove();
  }
}

function meaning(session: DecidedSession, run: RecordedRun, denied: string[]): Meaning {
  const { session: state, spawns } = session.ledger();
  const byTrace = new Map(spawns.map((spawn) => [spawn.trace, spawn]));
  const agents = run.agents.map(({ id, outcomes }) => {
    const { parent, depth, outcome, doubt } = session.spawnOfAgent(id);
    const parentAgent = parent === null ? null : (byTrace.get(parent)?.agent ?? "unknown");
    const fits = outcome !== null && outcomes.includes(outcome);
    return [
      id,
      { parent: parentAgent, depth, outcome: fits ? outcomes.join(" or ") : String(outcome), doubt },
    ];
  });
  return {
    agents: Object.fromEntries(agents),
    denied: denied.sort(),
    admitted: state.admitted,
    running: state.running,
    damage: [...state.damage, ...session.open().damaged],
  };
}
