import { forgetLaunches } from "../ledger/launches.ts";
import { parseToolCall } from "./hook-event.ts";
import { silentOnError } from "./on-error.ts";
import { settle } from "./outcome.ts";
import type { Hook } from "./run-hook.ts";

/** An Agent call that came to nothing, or whose agent failed: with no agent bound to it, none ever ran. */
export const hook: Hook = {
  event: "PostToolUseFailure",
  handle: (event, context) => {
    const { ledger } = context;
    const { tool, call } = parseToolCall(event);
    if (tool === "Skill" || tool === "Workflow") forgetLaunches(ledger, (launch) => launch.call === call);
    if (tool !== "Agent" && tool !== "Task") return {};
    const trace = ledger.traceOfCall(call);
    const spawn = trace === null ? null : ledger.record(trace);
    if (spawn === null) return {};
    const error = typeof event.raw.error === "string" ? event.raw.error.slice(0, 300) : "unknown error";
    const ran = spawn.phase === "running" || error.startsWith("Agent terminated early");
    return settle(spawn.trace, ran ? "failed" : "never_started", error, context);
  },
  onError: silentOnError,
};
