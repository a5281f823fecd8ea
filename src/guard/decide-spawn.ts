import type { SessionState } from "../ledger/session-state.ts";
import { countChild, slotOf } from "../ledger/slot.ts";
import { newSpawnRecord, type SpawnRecord } from "../ledger/spawn-record.ts";
import { formatProblems } from "../payload/format-problems.ts";
import { renderBlock } from "../payload/prompt-block.ts";
import type { SpawnPayload } from "../payload/spawn-payload.ts";
import { formatTraceId, traceDate } from "../payload/trace-id.ts";
import { intentProblem } from "../policy/policy-text.ts";
import { defaultBudget } from "../roles/role-budget.ts";
import { spawnableRoles } from "../roles/tool-list.ts";
import { sameAgentType } from "./agent-type.ts";
import { runawayFactor } from "./budget.ts";
import { overCaps } from "./budget-caps.ts";
import { childScope, deriveIntent, type IntentSource, isWithinIntent, sessionScope } from "./intent.ts";
import { withinParent } from "./parent-budget.ts";
import { type Refused, reasons } from "./reasons.ts";
import { noteRefusal } from "./refusal.ts";
import { overHardCap } from "./session-tokens.ts";
import { goalOf, spawnInput } from "./spawn-prompt.ts";
import type { AgentInput, SpawnRequest } from "./spawn-request.ts";
import { bansFor, inheritedBans, intentFor, rightsFor } from "./spawn-rights.ts";

/** A trace id names a folder of the ledger, and file systems end at 255 bytes. */
export const MAX_TRACE_LENGTH = 128;
/** What a file can be named for: other names would be longer on disk than they look. */
const KEPT_NAME = /^[A-Za-z0-9_. -]{1,60}$/;

export type SpawnDecision =
  | { kind: "admitted"; session: SessionState; record: SpawnRecord; input: AgentInput }
  /** this very call was admitted before: the same event came twice (case 56) */
  | { kind: "known"; trace: string }
  | { kind: "refused"; session: SessionState; refused: Refused; times: number };

/**
 * Decides about one Agent call and says what the session's state becomes. Depth comes first: it is the limit
 * that no payload and no mode can move.
 */
export function decideSpawn(session: SessionState, request: SpawnRequest): SpawnDecision {
  const admitted = Object.entries(session.running).find(([, slot]) => slot.call === request.call);
  if (admitted !== undefined) return { kind: "known", trace: admitted[0] };

  const { policy, target, caller } = request;
  const depth = (caller.kind === "main" ? session.baseDepth : caller.depth) + 1;
  const refuse = (refused: Refused, seq = session.seq) =>
    refusal(seq === session.seq ? session : { ...session, seq }, request, refused);

  if (policy.subagent_max_depth === 0) return refuse(reasons.depth(depth, 0));
  if (caller.kind === "spawn" && !caller.lineage.known) {
    return refuse(reasons.lineage(caller.lineage.why, policy.subagent_max_depth));
  }
  if (depth > policy.subagent_max_depth) return refuse(reasons.depth(depth, policy.subagent_max_depth));
  const unreadable = caller.kind === "main" ? intentProblem(caller.intent.join(", ")) : null;
  if (unreadable !== null) return refuse(reasons.intentUnreadable(caller.intent.join(", "), unreadable));
  if (!target.known && policy.unknown_roles === "deny") return refuse(reasons.roleUnknown(target.agentType));

  const chosen = choosePayload(session, request);
  if ("refused" in chosen) return refuse(chosen.refused, chosen.seq);
  const factor = runawayFactor(chosen.origin, policy);
  const budget = withinParent(chosen.payload.budget, factor, caller, session);
  if ("code" in budget) return refuse(budget);

  const record = newRecord(request, { ...chosen.payload, budget }, chosen.origin, depth);
  if (!isWithinIntent(request.caller.intent, record.intent)) {
    return refuse(reasons.beyondIntent(record.intent, request.caller.intent));
  }
  const full = limitReached(session, request, slotOf(record).reserved);
  if (full !== null) return refuse(full);

  return {
    kind: "admitted",
    session: {
      ...session,
      seq: chosen.seq,
      admitted: session.admitted + 1,
      running: countChild({ ...session.running, [record.trace]: slotOf(record) }, record.parent),
    },
    record,
    input: spawnInput(request.input, record, policy.subagent_max_depth),
  };
}

type Chosen = { payload: SpawnPayload; origin: "caller" | "attached"; seq: number };
/** `seq` is given where the refusal offers a block: no other call is offered the same trace id. */
type NotChosen = { refused: Refused; seq?: number };

function choosePayload(session: SessionState, request: SpawnRequest): Chosen | NotChosen {
  const { caller, policy } = request;
  const parent = caller.kind === "main" ? null : caller.trace;
  switch (request.payload.kind) {
    case "many":
      return { refused: reasons.payloadAmbiguous(request.payload.count) };
    case "unusable":
      return { refused: reasons.payloadInvalid(request.payload.problem) };
    case "none": {
      const tools = rightsFor(request, null);
      if ("code" in tools) return { refused: tools };
      const attached = attachedPayload(session, request, parent, tools);
      return policy.payload_mode === "require"
        ? { refused: reasons.payloadMissing(renderBlock(attached.payload)), seq: attached.seq }
        : { ...attached, origin: "attached" };
    }
    case "one":
      return givenPayload(session, request, request.payload.payload, parent);
  }
}

/** A payload that the caller wrote may ask for less than it could have, never for more. */
function givenPayload(
  session: SessionState,
  request: SpawnRequest,
  given: SpawnPayload,
  parent: string | null,
): Chosen | NotChosen {
  const { target, policy } = request;
  if (given.trace_id.length > MAX_TRACE_LENGTH) {
    const problem = `has ${given.trace_id.length} characters; at most ${MAX_TRACE_LENGTH}`;
    return { refused: reasons.payloadInvalid(formatProblems([{ field: "trace_id", problem }])) };
  }
  if (given.parent_trace_id != null && given.parent_trace_id !== parent) {
    return { refused: reasons.parentMismatch(given.parent_trace_id, parent) };
  }
  const names = [target.role.name, target.agentType];
  if (!names.some((name) => sameAgentType(given.subagent_role, name))) {
    return { refused: reasons.roleMismatch(given.subagent_role, target.agentType) };
  }
  if (isUsed(session, request, given.trace_id)) {
    const { payload, seq } = attachedPayload(session, request, parent, given.allowed_tools);
    const block = renderBlock({ ...given, trace_id: payload.trace_id, parent_trace_id: parent });
    return { refused: reasons.traceReused(given.trace_id, block), seq };
  }
  const tools = rightsFor(request, given.allowed_tools);
  if ("code" in tools) return { refused: tools };
  const over = overCaps(given.budget, policy);
  if (over.length > 0) return { refused: reasons.overCap(formatProblems(over)) };
  return {
    payload: { ...given, parent_trace_id: parent, allowed_tools: tools },
    origin: "caller",
    seq: session.seq,
  };
}

function attachedPayload(
  session: SessionState,
  request: SpawnRequest,
  parent: string | null,
  tools: string[],
): { payload: SpawnPayload; seq: number } {
  const date = traceDate(new Date(request.now));
  let seq = session.seq;
  let trace: string;
  do {
    seq += 1;
    trace = formatTraceId({ date, run: session.run, seq });
  } while (isUsed(session, request, trace));
  const { role } = request.target;
  return {
    seq,
    payload: {
      trace_id: trace,
      parent_trace_id: parent,
      subagent_role: role.name,
      required: true,
      goal: goalOf(request.input),
      constraints: [],
      state_slice: {},
      allowed_tools: tools,
      budget: defaultBudget(role),
      untrusted_inputs: [],
    },
  };
}

function isUsed(session: SessionState, request: SpawnRequest, trace: string): boolean {
  return Object.hasOwn(session.running, trace) || request.traceUsed(trace);
}

function limitReached(session: SessionState, request: SpawnRequest, asked: number): Refused | null {
  const { policy, caller } = request;
  const running = Object.keys(session.running).length;
  if (session.admitted >= policy.max_spawns_per_session) {
    return reasons.spawnsExhausted(session.admitted, policy.max_spawns_per_session);
  }
  if (caller.kind === "spawn") {
    const children = session.running[caller.trace]?.children ?? 0;
    if (children >= policy.max_children_per_spawn) {
      return reasons.children(children, policy.max_children_per_spawn);
    }
  }
  if (running >= policy.max_concurrent_spawns) {
    return reasons.concurrency(running, policy.max_concurrent_spawns);
  }
  return overHardCap(session, asked, policy);
}

function newRecord(
  request: SpawnRequest,
  payload: SpawnPayload,
  origin: "caller" | "attached",
  depth: number,
): SpawnRecord {
  const { role, agentType } = request.target;
  const identity = {
    trace: payload.trace_id,
    call: request.call,
    agent: null,
    parent: payload.parent_trace_id ?? null,
    depth,
    role: role.name,
    agentType,
    origin,
    payload,
    phase: "reserved",
  } as const;
  const spawnable = spawnableRoles(role.tools ?? []);
  const { caller, policy } = request;
  const banned = bansFor(request);
  const intent = intentFor(request, payload.allowed_tools);
  const source = sourceOf(request);
  const parent = { rules: request.caller.intent, banned: caller.kind === "main" ? [] : caller.disallowed };
  return {
    ...newSpawnRecord(identity, request.input.prompt, request.now),
    disallowed: banned,
    inheritedBans: inheritedBans(request),
    name: nameIn(request.input),
    isProjectRole: role.origin === "project",
    handsOn: Array.isArray(spawnable) ? spawnable : [],
    hostTurns: role.maxTurns,
    intent,
    derivation: deriveIntent(source, parent, { rules: intent, banned }),
    scope: childScope(caller.kind === "main" ? sessionScope(policy) : caller.scope, source),
  };
}

function sourceOf({ payload, caller }: SpawnRequest): IntentSource {
  if (payload.kind !== "one") return "guard";
  return payload.typed && caller.kind === "main" ? "person" : "caller";
}

function refusal(session: SessionState, request: SpawnRequest, refused: Refused): SpawnDecision {
  return { kind: "refused", refused, ...noteRefusal(session, request, refused) };
}

/** Only a name that the ledger can keep: the host takes others too, and then knows the agent by its id alone. */
function nameIn({ name }: AgentInput): string | null {
  return typeof name === "string" && KEPT_NAME.test(name) ? name : null;
}
