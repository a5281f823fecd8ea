import { resumeSpawn } from "../ledger/resuming.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

const RETURN =
  'You are a subagent under spawn-guard. The <spawn_payload> in your task names your trace id, goal, tools and budget. End with your report and, last, on lines of their own, <return_contract>{"trace_id": "<your trace_id>", "status": "ok|partial|needs_clarification|failed", "result": {"summary": "<10 to 2000 characters>", "files_changed": []}, "risks": [], "next_actions": []}</return_contract>';

/**
 * An agent starts, or starts again. It cannot be stopped here, and which spawn it is often cannot be known yet:
 * that is settled at its first call.
 */
export const hook: Hook = {
  event: "SubagentStart",
  handle: (event, { ledger, policy, now }) => {
    if (event.agentId === null) return {};
    const entry = ledger.updateAgent(event.agentId, (known) => ({
      trace: known?.trace ?? null,
      agentType: event.agentType ?? known?.agentType ?? null,
      startedAt: now,
    }));
    const spawn = entry?.trace == null ? null : ledger.record(entry.trace);
    if (spawn?.phase === "ended") resumeSpawn(ledger, spawn, policy, now);
    return { context: RETURN };
  },
  onError: silentOnError,
};
