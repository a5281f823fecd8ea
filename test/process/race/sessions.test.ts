import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { denial, HookSession } from "../../support/hook-session.ts";
import { patience, rounds } from "./rounds.ts";

const ROUNDS = rounds("ROUNDS", 1);
const SESSIONS = 16;
const CALLS = 4;
const CAP = 3;

/** Processes that still run in the environment of a session whose hooks have all answered (case 35). */
function processesOf(roots: readonly string[]): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((id) => {
    try {
      const environment = /^[0-9]+$/.test(id) ? readFileSync(`/proc/${id}/environ`, "latin1") : "";
      return roots.some((root) => environment.includes(`HOME=${root}\0`));
    } catch {
      return false;
    }
  });
}

it(
  `${SESSIONS} sessions in one data folder decide at once, each rightly, and count for themselves alone`,
  patience(ROUNDS),
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const first = new HookSession("storm-0", { max_spawns_per_session: CAP });
      const others = Array.from({ length: SESSIONS - 1 }, (_, index) => {
        const session = new HookSession(`storm-${index + 1}`, { max_spawns_per_session: CAP });
        session.environment.CLAUDE_PLUGIN_DATA = first.data;
        return session;
      });
      const sessions = [first, ...others];
      try {
        const answers = await Promise.all(
          sessions.map(async (session) => {
            const said: (string | null)[] = [];
            for (let call = 0; call < CALLS; call++) {
              const result = await session.ask(session.agentCall(`t${call}`));
              expect(result).toMatchObject({ exitCode: 0, stderr: "" });
              expect(result.json?.systemMessage).toBeUndefined();
              said.push(denial(result));
            }
            return said;
          }),
        );
        for (const said of answers) {
          expect(said.slice(0, CAP)).toEqual(Array(CAP).fill(null));
          expect(said[CAP]).toContain("the limit is 3");
        }
        expect(processesOf(sessions.map(({ root }) => root))).toEqual([]);
        for (const { sessionId } of sessions) {
          const { session, spawns } = first.ledgerOf(sessionId);
          expect(session).toMatchObject({ admitted: CAP, refused: CALLS - CAP, damage: [] });
          expect(spawns.map(({ call }) => call).sort()).toEqual(["t0", "t1", "t2"]);
        }
      } finally {
        for (const session of sessions) session.remove();
      }
    }
  },
);
