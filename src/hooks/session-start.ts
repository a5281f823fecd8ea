import { appendFileSync } from "node:fs";
import { endSpawn } from "../ledger/ending.ts";
import { textProblems } from "../policy/policy-text.ts";
import { writePlace } from "../policy/session-place.ts";
import { type HookContext, OUTER_SESSION } from "./hook-context.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

/**
 * A session begins or goes on. One that starts or is resumed has no agents running, whatever the ledger thinks;
 * a compaction leaves them running.
 */
export const hook: Hook = {
  event: "SessionStart",
  handle: async ({ raw, sessionId }, context) => {
    const { ledger, now } = context;
    const begins = raw.source === "startup" || raw.source === "resume";
    const { running } = ledger.updateSession((state) => (begins ? { ...state, begunAt: now } : state));
    if (begins) {
      for (const trace of Object.keys(running)) {
        endSpawn(ledger, trace, "session_ended", "the session started anew", now);
      }
    }
    const { auditSessionStart, auditTransitions } = await import("./audit-transitions.ts");
    auditTransitions(context);
    auditSessionStart(context);
    passOn(sessionId, context);
    writePlace(context.configFolder, sessionId, context.dataFolder, context.resolvedPolicy(), now);
    const problems = [...context.resolvedPolicy().problems, ...textProblems(context.policy)];
    return problems.length === 0 ? {} : { message: `spawn-guard: ${problems.join("\n")}` };
  },
  onError: silentOnError,
};

/**
 * Claude Code started from this session's shells counts its depth on from here (case 20): the variable names the
 * session whose ledger it looks at.
 */
function passOn(sessionId: string, { environment }: HookContext): void {
  const file = environment.CLAUDE_ENV_FILE;
  if (file !== undefined && file !== "" && /^[A-Za-z0-9-]+$/.test(sessionId)) {
    appendFileSync(file, `export ${OUTER_SESSION}=${sessionId}\n`);
  }
}
