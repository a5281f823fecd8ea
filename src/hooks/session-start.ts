import { endSpawn } from "../ledger/ending.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

/**
 * A session begins or goes on. One that starts or is resumed has no agents running, whatever the ledger thinks;
 * a compaction leaves them running.
 */
export const hook: Hook = {
  event: "SessionStart",
  handle: ({ raw }, context) => {
    const { ledger, now } = context;
    const { running } = ledger.updateSession((state) => state);
    if (raw.source === "startup" || raw.source === "resume") {
      for (const trace of Object.keys(running)) {
        endSpawn(ledger, trace, "session_ended", "the session started anew", now);
      }
    }
    const { problems } = context.resolvedPolicy();
    return problems.length === 0 ? {} : { message: `spawn-guard: ${problems.join("\n")}` };
  },
  onError: silentOnError,
};
