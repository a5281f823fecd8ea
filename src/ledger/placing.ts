import { sameAgentType } from "../guard/agent-type.ts";
import type { Sidecar } from "../transcript/sidecar.ts";
import type { Standing } from "./adoption.ts";
import type { SeenAgent } from "./binding.ts";
import type { Ledger } from "./ledger.ts";
import type { SessionState } from "./session-state.ts";

/**
 * Where a subagent that no admitted call explains stands: as its sidecar says where the ledger bears that out,
 * else the deepest place it can have come from (DESIGN "Lineage" 4, case 61).
 */
export function placeStray(ledger: Ledger, agent: SeenAgent, sidecar: Sidecar | null): Standing {
  const state = ledger.session();
  if (state === null) return { parent: null, depth: 1, doubt: null };
  const candidates = possibleParents(state, agent, sidecar);
  const named = sidecar === null ? null : namedParent(ledger, state, sidecar);
  if (named === null) return deepest(ledger, state, candidates ?? anyParent(state));
  if (candidates === null || candidates.includes(named.parent)) return named;
  const from = named.parent ?? "the main thread";
  const doubt = `its sidecar says it comes from ${from}, which started no agent`;
  return { ...deepest(ledger, state, [...candidates, named.parent]), doubt };
}

/** The parent that a sidecar names, if the ledger knows it and the depths agree. */
function namedParent(ledger: Ledger, state: SessionState, sidecar: Sidecar): Standing | null {
  if (sidecar.workflowRun !== null) {
    const launch = state.launches.find((candidate) => candidate.id === sidecar.workflowRun);
    return launch === undefined ? null : standingBelow(ledger, state, launch.parent);
  }
  if (sidecar.spawnDepth === null) return null;
  const parentTrace =
    sidecar.parentAgentId === null ? null : (ledger.agent(sidecar.parentAgentId)?.trace ?? undefined);
  if (parentTrace === undefined) return null;
  const standing = standingBelow(ledger, state, parentTrace);
  return standing.depth === state.baseDepth + sidecar.spawnDepth ? standing : null;
}

/** Who may have started it, by what is going on; null when nothing is. */
function possibleParents(
  state: SessionState,
  agent: SeenAgent,
  sidecar: Sidecar | null,
): (string | null)[] | null {
  const launches = state.launches.filter(
    (launch) => sidecar?.workflowRun == null || launch.id === null || launch.id === sidecar.workflowRun,
  );
  const reserved = Object.values(state.running).filter(
    (slot) =>
      slot.agent === null && (agent.agentType === null || sameAgentType(slot.agentType, agent.agentType)),
  );
  const parents = [...launches.map((launch) => launch.parent), ...reserved.map((slot) => slot.parent)];
  return parents.length > 0 ? [...new Set(parents)] : null;
}

function anyParent(state: SessionState): (string | null)[] {
  return [null, ...Object.keys(state.running)];
}

function deepest(ledger: Ledger, state: SessionState, parents: readonly (string | null)[]): Standing {
  return parents
    .map((parent) => standingBelow(ledger, state, parent))
    .reduce((deeper, standing) => (standing.depth > deeper.depth ? standing : deeper));
}

function standingBelow(ledger: Ledger, state: SessionState, parent: string | null): Standing {
  if (parent === null) return { parent: null, depth: state.baseDepth + 1, doubt: null };
  const depth = state.running[parent]?.depth ?? ledger.record(parent)?.depth;
  return depth === undefined
    ? { parent: null, depth: state.baseDepth + 1, doubt: `its parent ${parent} is not in the ledger` }
    : { parent, depth: depth + 1, doubt: null };
}
