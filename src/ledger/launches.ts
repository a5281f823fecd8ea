import type { Ledger } from "./ledger.ts";
import { type Launch, MAX_LAUNCHES } from "./session-state.ts";

/** Remembers a call that may start agents without an Agent call (Workflow, a forked skill), once. */
export function noteLaunch(ledger: Ledger, launch: Launch): void {
  ledger.updateSession((state) =>
    state.launches.some((known) => known.call === launch.call)
      ? null
      : { ...state, launches: [...state.launches, launch].slice(-MAX_LAUNCHES) },
  );
}

/** Gives a launch the id of what it started: a workflow's run. */
export function identifyLaunch(ledger: Ledger, call: string, id: string): void {
  ledger.updateSession((state) =>
    state.launches.some((known) => known.call === call && known.id !== id)
      ? {
          ...state,
          launches: state.launches.map((known) => (known.call === call ? { ...known, id } : known)),
        }
      : null,
  );
}

/** Forgets launches that are over; `over` picks them. */
export function forgetLaunches(ledger: Ledger, over: (launch: Launch) => boolean): void {
  ledger.updateSession((state) =>
    state.launches.some(over)
      ? { ...state, launches: state.launches.filter((launch) => !over(launch)) }
      : null,
  );
}
