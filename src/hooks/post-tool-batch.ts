import { endSpawn } from "../ledger/ending.ts";
import { forgetLaunches } from "../ledger/launches.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { spawnOfEvent } from "./subagent.ts";

/**
 * A response's calls are all done. The host runs it after every PostToolUse of the response (measured), so an
 * admitted spawn of this caller that nobody was bound to was cancelled: another plugin or a permission rule
 * refused the call, or the person did.
 */
export const hook: Hook = {
  event: "PostToolBatch",
  handle: (event, context) => {
    const { ledger, now } = context;
    const caller = spawnOfEvent(event, context);
    const parent = caller?.trace ?? null;
    const running = Object.entries(ledger.session()?.running ?? {});
    for (const [trace, slot] of running) {
      if (slot.call === null || slot.agent !== null || slot.parent !== parent) continue;
      endSpawn(ledger, trace, "cancelled", "the call has no result of its own", now);
    }
    forgetLaunches(ledger, (launch) => launch.tool === "Skill" && launch.parent === parent);
    return {};
  },
  onError: silentOnError,
};
