import { endSpawn } from "../ledger/ending.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

export const hook: Hook = {
  event: "SessionEnd",
  handle: async (_, context) => {
    const { ledger, now } = context;
    for (const trace of Object.keys(ledger.session()?.running ?? {})) {
      endSpawn(ledger, trace, "session_ended", null, now);
    }
    const { auditSessionEnd, auditTransitions } = await import("./audit-transitions.ts");
    auditTransitions(context);
    auditSessionEnd(context);
    return {};
  },
  onError: silentOnError,
};
