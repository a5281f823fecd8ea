import { sameAgentType } from "../guard/agent-type.ts";
import type { Policy } from "../policy/policy-keys.ts";
import type { Sidecar } from "../transcript/sidecar.ts";
import { adoptAgent, type Standing } from "./adoption.ts";
import { endSpawn } from "./ending.ts";
import type { Ledger } from "./ledger.ts";
import { mergeSlots, mergeSpawn } from "./merge.ts";
import { placeStray } from "./placing.ts";
import type { SpawnRecord } from "./spawn-record.ts";

/** An agent as an event names it. */
export type SeenAgent = { agentId: string; agentType: string | null };

/**
 * The spawn of a running agent: what it is bound to already, else what its sidecar proves, else one that it is
 * adopted into. `readSidecar` is asked only for an agent that is not bound yet.
 */
export function spawnOfAgent(
  ledger: Ledger,
  agent: SeenAgent,
  readSidecar: () => Sidecar | null,
  policy: Policy,
  now: number,
): SpawnRecord {
  const trace = ledger.agent(agent.agentId)?.trace ?? null;
  const bound = trace === null ? null : ledger.record(trace);
  if (bound !== null) {
    const spawn = bound.trace === trace ? bound : finishMerge(ledger, trace, bound, agent, now);
    return compareType(ledger, spawn, agent.agentType);
  }

  const sidecar = readSidecar();
  const agentType = agent.agentType ?? sidecar?.agentType ?? null;
  if (sidecar?.toolUseId != null) {
    const spawn = bindCall(ledger, sidecar.toolUseId, { ...agent, agentType }, policy, now);
    if (spawn !== null) return doubtIfContradicted(ledger, spawn, sidecar);
  }
  const standing = placeStray(ledger, { ...agent, agentType }, sidecar);
  return adoptAgent(ledger, { ...agent, agentType, call: null, barred: null }, standing, policy, now);
}

/** The result of a background call names no agent type; every event of the agent itself does. */
function compareType(ledger: Ledger, spawn: SpawnRecord, agentType: string | null): SpawnRecord {
  if (agentType === null || spawn.origin === "adopted" || spawn.ranAs !== null) return spawn;
  if (sameAgentType(agentType, spawn.agentType)) return spawn;
  return ledger.updateRecord(spawn.trace, (record) => ({ ...(record ?? spawn), ranAs: agentType })) ?? spawn;
}

/**
 * Binds an agent to the spawn that an Agent call made, on the word of PostToolUse or of the agent's sidecar. A
 * call binds one agent, once. Null when the ledger knows nothing of the call.
 */
export function bindCall(
  ledger: Ledger,
  call: string,
  agent: SeenAgent,
  policy: Policy,
  now: number,
): SpawnRecord | null {
  const trace = ledger.traceOfCall(call);
  if (trace === null) return bindRefused(ledger, call, agent, policy, now);
  const spawn = ledger.record(trace);
  if (spawn === null) return null;
  if (spawn.agent !== null && spawn.agent !== agent.agentId) {
    return adoptAgent(
      ledger,
      { ...agent, call: null, barred: null },
      {
        parent: spawn.parent,
        depth: spawn.depth,
        doubt: `call ${call} already belongs to agent ${spawn.agent}`,
      },
      policy,
      now,
    );
  }
  const entry = ledger.agent(agent.agentId);
  const held = entry?.trace == null ? null : ledger.record(entry.trace);
  if (held !== null && held.trace === spawn.trace) {
    return finishMerge(ledger, entry?.trace ?? null, spawn, agent, now);
  }
  if (held !== null) {
    if (held.origin !== "adopted") return held;
    mergeSpawn(ledger, held, spawn, now);
    if (held.phase === "ended" && held.outcome !== null) {
      const { outcome, detail, endedAt } = held;
      bind(ledger, spawn, agent, now);
      return endSpawn(ledger, spawn.trace, outcome, detail, endedAt ?? now) ?? spawn;
    }
  }
  return bind(ledger, spawn, agent, now);
}

/** Binds an agent whose entry may still name the adopted spawn of a merge that was killed half-way. */
function finishMerge(
  ledger: Ledger,
  entry: string | null,
  spawn: SpawnRecord,
  agent: SeenAgent,
  now: number,
): SpawnRecord {
  if (entry !== null && entry !== spawn.trace) mergeSlots(ledger, entry, spawn);
  return bind(ledger, spawn, agent, now);
}

/** The agent's entry comes last: as long as it is not written, the agent's next event binds it again. */
function bind(ledger: Ledger, spawn: SpawnRecord, agent: SeenAgent, now: number): SpawnRecord {
  const { agentType } = agent;
  const ranAs = agentType === null || sameAgentType(agentType, spawn.agentType) ? null : agentType;
  ledger.updateSession((state) => {
    const slot = state.running[spawn.trace];
    if (slot === undefined || slot.agent === agent.agentId) return null;
    return { ...state, running: { ...state.running, [spawn.trace]: { ...slot, agent: agent.agentId } } };
  });
  const bound = ledger.updateRecord(spawn.trace, (record) => {
    const current = record ?? spawn;
    const phase = current.phase === "reserved" ? "running" : current.phase;
    const same = record !== null && current.agent === agent.agentId && current.phase === phase;
    return same && current.ranAs === (ranAs ?? current.ranAs)
      ? null
      : {
          ...current,
          agent: agent.agentId,
          phase,
          ranAs: ranAs ?? current.ranAs,
          seenAt: Math.max(current.seenAt, now),
        };
  });
  if (spawn.name !== null) ledger.recordName(spawn.name, spawn.trace);
  ledger.updateAgent(agent.agentId, (entry) =>
    entry?.trace === spawn.trace
      ? null
      : {
          agentType: agentType ?? entry?.agentType ?? null,
          startedAt: entry?.startedAt ?? null,
          trace: spawn.trace,
        },
  );
  return bound ?? spawn;
}

/** A refused call whose agent runs all the same (case 30): it is taken in, and may do nothing. */
function bindRefused(
  ledger: Ledger,
  call: string,
  agent: SeenAgent,
  policy: Policy,
  now: number,
): SpawnRecord | null {
  const refused = ledger.session()?.refusals.some(({ calls }) => calls.includes(call)) ?? false;
  if (!refused) return null;
  const standing: Standing = placeStray(ledger, agent, null);
  const stray = adoptAgent(ledger, { ...agent, call, barred: "deny_not_enforced" }, standing, policy, now);
  if (stray.call === call || stray.origin !== "adopted") return stray;
  // It had been taken in before anything told which call it came from.
  const barred = stray.barred ?? "deny_not_enforced";
  return ledger.updateRecord(stray.trace, (record) => ({ ...(record ?? stray), call, barred })) ?? stray;
}

/** A sidecar that tells another story than the ledger puts the lineage in doubt; it never improves it. */
function doubtIfContradicted(ledger: Ledger, spawn: SpawnRecord, sidecar: Sidecar): SpawnRecord {
  const doubt = contradiction(ledger, spawn, sidecar);
  if (doubt === null || spawn.doubt !== null) return spawn;
  return (
    ledger.updateRecord(spawn.trace, (record) => (record === null ? null : { ...record, doubt })) ?? {
      ...spawn,
      doubt,
    }
  );
}

function contradiction(ledger: Ledger, spawn: SpawnRecord, sidecar: Sidecar): string | null {
  const depth = spawn.depth - (ledger.session()?.baseDepth ?? 0);
  if (sidecar.spawnDepth === null) return "its sidecar names no sound depth";
  if (sidecar.spawnDepth !== depth)
    return `its sidecar says depth ${sidecar.spawnDepth}, the ledger ${depth}`;
  const parent = spawn.parent === null ? null : ledger.record(spawn.parent);
  if (sidecar.parentAgentId !== null && sidecar.parentAgentId !== (parent?.agent ?? null)) {
    return `its sidecar names agent ${sidecar.parentAgentId} as its parent`;
  }
  return null;
}
