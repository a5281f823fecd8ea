import type { Ledger } from "../ledger/ledger.ts";
import { isJson } from "../ledger/shape.ts";
import { MAX_NOTED, type SpawnRecord } from "../ledger/spawn-record.ts";
import { usageTotals } from "../transcript/usage.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookEvent } from "./hook-event.ts";

const MAX_TOLD = 200;

/**
 * What is wrong when a subagent stops, for the person, and noted with its spawn: background tasks that go on
 * (case 14), and tool calls that its transcript shows but no hook saw (case 63), which count from then on.
 */
export function reportStop(spawn: SpawnRecord, event: HookEvent, context: HookContext): string | null {
  const leftovers = runningTasks(event, spawn);
  const ungoverned = unseenCalls(spawn, context);
  if (leftovers.length === 0 && ungoverned.length === 0) return null;
  const { toolUses } = usageTotals(spawn.meter.transcript.meter, true);
  context.ledger.updateRecord(spawn.trace, (record) => {
    const current = record ?? spawn;
    const toolCalls = Math.max(current.meter.toolCalls, toolUses);
    return {
      ...current,
      meter: { ...current.meter, toolCalls },
      leftovers: leftovers.map(({ text }) => text).slice(0, MAX_NOTED),
      ungoverned: ungoverned.slice(0, MAX_NOTED),
    };
  });
  const untold = leftovers.filter(({ id }) => isFirstTime(context.ledger, `task:${id}`));
  const lines = [
    ...(untold.length === 0
      ? []
      : [`goes on in the background: ${untold.map(({ text }) => text).join(", ")}`]),
    ...(ungoverned.length === 0
      ? []
      : [`${ungoverned.length} tool calls passed no hook (ungoverned_tool_use)`]),
  ];
  return lines.length === 0
    ? null
    : `spawn-guard: ${spawn.trace} (${spawn.role}) has stopped; ${lines.join("; ")}`;
}

/** The host lists the whole session's tasks; other subagents are spawns of their own. */
function runningTasks({ raw }: HookEvent, spawn: SpawnRecord): { id: string; text: string }[] {
  const tasks = Array.isArray(raw.background_tasks) ? raw.background_tasks : [];
  return tasks.flatMap((task) => {
    if (!isJson(task) || task.status !== "running" || task.type === "subagent") return [];
    if (typeof task.id !== "string" || task.id === spawn.agent) return [];
    const description = typeof task.description === "string" ? task.description.slice(0, 100) : "";
    return [{ id: task.id, text: `${String(task.type)} ${task.id} (${description})` }];
  });
}

function unseenCalls(spawn: SpawnRecord, context: HookContext): string[] {
  const { meter, agent } = spawn;
  if (agent === null || usageTotals(meter.transcript.meter, true).toolUses <= meter.toolCalls) return [];
  const seen = new Set([...meter.counted, ...meter.inFlight]);
  return context.toolUsesOf(agent).filter((id) => !seen.has(id));
}

function isFirstTime(ledger: Ledger, note: string): boolean {
  let first = false;
  ledger.updateSession((state) => {
    first = !state.told.includes(note);
    return first ? { ...state, told: [...state.told, note].slice(-MAX_TOLD) } : null;
  });
  return first;
}
