import { endSpawn } from "../ledger/ending.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

export const hook: Hook = {
  event: "SessionEnd",
  handle: (_, { ledger, now }) => {
    for (const trace of Object.keys(ledger.session()?.running ?? {})) {
      endSpawn(ledger, trace, "session_ended", null, now);
    }
    return {};
  },
  onError: silentOnError,
};
