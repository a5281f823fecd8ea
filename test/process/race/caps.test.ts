import { describe, expect, it } from "vitest";
import {
  attachedPayload,
  denial,
  type HookResult,
  HookSession,
  updatedInput,
} from "../../support/hook-session.ts";
import { patience, rounds } from "./rounds.ts";

type Json = Record<string, unknown>;

const ROUNDS = rounds("ROUNDS", 1);
const CALLS = 40;
/** fewer of those that come twice, so that as many processes run */
const TWICE = 20;
const CAP = 10;
const WIDE = {
  max_spawns_per_session: 1000,
  max_concurrent_spawns: 1000,
  max_children_per_spawn: 1000,
  session_token_hard_cap: 1_000_000_000,
  session_token_soft_cap: 1_000_000_000,
};

/** Room for CAP payloads of this budget, and for all but one token of the next. */
const BUDGET = { max_input_tokens: 9_000, max_output_tokens: 1_000 };
const RESERVED = BUDGET.max_input_tokens + BUDGET.max_output_tokens;

type Row = {
  limit: string;
  cap: number;
  /** members of the events: who makes the calls */
  by: Json;
  input: (index: number) => Json;
  refusal: string;
};

const MAIN = {};
const SPAWN = { agent_id: "a1", agent_type: "general-purpose" };
const plain = (index: number) => ({ prompt: `look at part ${index}` });
const withPayload = (index: number) => ({ prompt: `look\n${block(index)}` });

const ROWS: Row[] = [
  {
    limit: "max_concurrent_spawns",
    cap: CAP,
    by: MAIN,
    input: plain,
    refusal: "at most 10 may run at once",
  },
  { limit: "max_spawns_per_session", cap: CAP, by: MAIN, input: plain, refusal: "the limit is 10" },
  {
    limit: "max_children_per_spawn",
    cap: CAP,
    by: SPAWN,
    input: plain,
    refusal: "the limit is 10 for one spawn",
  },
  {
    limit: "session_token_hard_cap",
    cap: CAP * RESERVED + RESERVED - 1,
    by: MAIN,
    input: withPayload,
    refusal: "session_token_hard_cap",
  },
];

function block(index: number): string {
  const payload = {
    trace_id: `wf-20261130-racing-spawn-${index}`,
    subagent_role: "general-purpose",
    goal: `look at part ${index}`,
    constraints: [],
    allowed_tools: ["Read"],
    budget: { ...BUDGET, max_tool_calls: 10, max_turns: 10, timeout_ms: 60_000, retry_budget: 1 },
  };
  return `<spawn_payload>\n${JSON.stringify(payload)}\n</spawn_payload>`;
}

async function race(
  { limit, cap, by, input }: Row,
  calls: number,
  copies: number,
  check: (session: HookSession, answers: HookResult[][]) => void | Promise<void>,
): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const session = new HookSession(undefined, { ...WIDE, [limit]: cap });
    try {
      if (by === SPAWN) {
        await session.ask(session.agentCall("t0"));
        await session.send(session.launched("t0", "a1"));
      }
      const events = Array.from({ length: calls }, (_, index) =>
        session.agentCall(`c${index}`, by, input(index)),
      );
      await check(
        session,
        await Promise.all(
          events.map((event) =>
            Promise.all(
              Array(copies)
                .fill(event)
                .map((e) => session.ask(e)),
            ),
          ),
        ),
      );
    } finally {
      session.remove();
    }
  }
}

describe.each(ROWS)("$limit", (row) => {
  const before = row.by === SPAWN ? 1 : 0;

  it(`admits exactly ${CAP} of ${CALLS} hook processes started together`, patience(ROUNDS), async () => {
    await race(row, CALLS, 1, async (session, answers) => {
      const results = answers.flat();
      const admitted = results.filter((result) => denial(result) === null);
      const refusals = results.map(denial).filter((reason) => reason !== null);
      expect(results.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
        Array(CALLS).fill({ exitCode: 0, stderr: "" }),
      );
      expect(admitted).toHaveLength(CAP);
      for (const refusal of refusals) expect(refusal).toContain(row.refusal);

      const traces = admitted.map((result) => attachedPayload(result).trace_id);
      expect(new Set(traces).size).toBe(CAP);
      const { session: state, spawns } = session.ledger();
      expect(state).toMatchObject({ admitted: before + CAP, refused: CALLS - CAP, damage: [] });
      const running = Object.entries(state.running).filter(([, slot]) => slot.call !== "t0");
      expect(running.map(([trace]) => trace).sort()).toEqual(traces.sort());
      expect(
        spawns
          .filter(({ call }) => call !== "t0")
          .map(({ trace }) => trace)
          .sort(),
      ).toEqual(traces);
      if (row.by === SPAWN) {
        expect(Object.values(state.running).find(({ call }) => call === "t0")?.children).toBe(CAP);
      }
    });
  });

  it(
    "counts each of them once, and answers both alike, when every event comes twice at once",
    patience(ROUNDS),
    async () => {
      await race(row, TWICE, 2, (session, answers) => {
        const admitted = answers.filter((copies) => copies.some((copy) => denial(copy) === null));
        expect(admitted).toHaveLength(CAP);
        for (const [first, second] of admitted) {
          expect(updatedInput(first as HookResult)).toEqual(updatedInput(second as HookResult));
        }
        expect(session.ledger().session).toMatchObject({
          admitted: before + CAP,
          refused: TWICE - CAP,
          damage: [],
        });
      });
    },
  );
});

describe("one trace id in the payloads of many calls", () => {
  it("is admitted once", patience(ROUNDS), async () => {
    const row: Row = {
      limit: "max_concurrent_spawns",
      cap: 1000,
      by: MAIN,
      input: () => ({ prompt: `look\n${block(1)}` }),
      refusal: "has already been used",
    };
    await race(row, CALLS, 1, (session, answers) => {
      const refusals = answers.flat().map(denial);
      expect(refusals.filter((reason) => reason === null)).toHaveLength(1);
      for (const refusal of refusals) if (refusal !== null) expect(refusal).toContain(row.refusal);
      expect(session.ledger().session).toMatchObject({ admitted: 1 });
    });
  });
});

describe("slots that are given back while others ask for them", () => {
  it("are never given to two, and none gets lost", patience(ROUNDS), async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const session = new HookSession(undefined, { ...WIDE, max_concurrent_spawns: 5 });
      try {
        const lives = Array.from({ length: 20 }, async (_, index) => {
          const call = `c${index}`;
          const refused = denial(await session.ask(session.agentCall(call, {}, plain(index))));
          if (refused !== null) return false;
          await session.send(session.launched(call, `a${index}`));
          await session.send(
            session.event("SubagentStop", {
              agent_id: `a${index}`,
              agent_type: "general-purpose",
              stop_hook_active: false,
            }),
          );
          return true;
        });
        const watch = { peak: 0, done: false };
        const all = Promise.all(lives).finally(() => {
          watch.done = true;
        });
        while (!watch.done) {
          try {
            watch.peak = Math.max(watch.peak, Object.keys(session.ledger().session.running).length);
          } catch (error) {
            if (!(error instanceof Error) || !error.message.includes("no ledger yet")) throw error;
          }
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        const lived = (await all).filter(Boolean).length;
        expect(watch.peak).toBeLessThanOrEqual(5);
        const { session: state, spawns } = session.ledger();
        expect(state).toMatchObject({ admitted: lived, refused: 20 - lived, running: {}, damage: [] });
        expect(spawns.map(({ outcome }) => outcome)).toEqual(Array(lived).fill("completed"));
      } finally {
        session.remove();
      }
    }
  });
});
