import { endSpawn } from "../ledger/ending.ts";
import { silentOnError } from "./on-error.ts";
import { runHook } from "./run-hook.ts";

void runHook(
  "SessionEnd",
  (_, { ledger, now }) => {
    for (const trace of Object.keys(ledger.session()?.running ?? {})) {
      endSpawn(ledger, trace, "session_ended", null, now);
    }
    return {};
  },
  silentOnError,
);
