import type { Role } from "../roles/role.ts";
import { defaultBudget } from "../roles/role-budget.ts";
import { allowedTools } from "./allowed-tools.ts";
import { countCharacters, showValue } from "./show-value.ts";
import { isSourceLabel, SOURCE_FORM } from "./source-label.ts";
import type { Budget, FieldProblem, SpawnPayload } from "./spawn-payload.ts";
import { type WrappedSlice, wrapSlice } from "./state-slice.ts";
import { sourcesOf, type UntrustedText } from "./untrusted-content.ts";
import { checkPayload } from "./validate.ts";

/** Bounds of the goal in characters; the same stand in plugin/schemas/spawn-payload.schema.json. */
const GOAL_MIN = 10;
const GOAL_MAX = 1000;

export type PayloadRequest = {
  role: Role;
  traceId: string;
  parentTraceId?: string | null | undefined;
  task: string;
  /** a technology, kept to as a constraint: `postgres` becomes `Stack: postgres` */
  stack?: string | undefined;
  /** input tokens */
  maxTokens?: number | undefined;
  /** tokens of the final message */
  maxOutput?: number | undefined;
  maxToolCalls?: number | undefined;
  maxTurns?: number | undefined;
  timeoutMs?: number | undefined;
  constraints: readonly string[];
  /** `source` is what texts in it are labelled with: state is data, whoever collected it */
  state?: { slice: Record<string, unknown>; source: string } | undefined;
  untrusted: readonly UntrustedText[];
  /** when state and foreign texts were taken in, ISO 8601 */
  wrappedAt: string;
  /** what a person should mend in the role's agent file */
  roleWarnings?: readonly string[] | undefined;
};

export type BuiltPayload =
  | { ok: true; payload: SpawnPayload; warnings: string[] }
  | { ok: false; problems: FieldProblem[] };

/**
 * The payload for one spawn of a role. What is not asked for comes from the role's agent file and its
 * type's row; a budget beyond the schema's bounds or the agent file's own caps is refused, not cut.
 */
export function buildPayload(request: PayloadRequest): BuiltPayload {
  const { role } = request;
  const tools = allowedTools(role);
  const state = wrappedState(request);
  const sources = new Set([...state.sources, ...request.untrusted.flatMap(sourcesOf)]);
  const payload = {
    trace_id: request.traceId,
    parent_trace_id: request.parentTraceId ?? null,
    subagent_role: role.name,
    goal: request.task,
    constraints: [
      ...request.constraints,
      ...(request.stack === undefined ? [] : [`Stack: ${request.stack.trim()}`]),
    ],
    state_slice: state.slice,
    allowed_tools: tools.tools,
    budget: budgetFor(request),
    untrusted_inputs: [...sources].map((source) => ({ source, wrapped: true })),
  };
  const checked = checkPayload(payload);
  const found = requestProblems(request, payload.budget);
  const named = new Set(found.map(({ field }) => field));
  const problems = checked.ok
    ? found
    : [...found, ...checked.problems.filter(({ field }) => !named.has(field))];
  if (!checked.ok || problems.length > 0) return { ok: false, problems };
  const warnings = [
    ...(request.roleWarnings ?? []),
    ...(tools.warning === null ? [] : [tools.warning]),
    ...request.untrusted.flatMap(otherLabel),
  ];
  return { ok: true, payload: checked.payload, warnings };
}

function budgetFor(request: PayloadRequest): Budget {
  const defaults = defaultBudget(request.role);
  return {
    max_input_tokens: request.maxTokens ?? defaults.max_input_tokens,
    max_output_tokens: request.maxOutput ?? defaults.max_output_tokens,
    max_tool_calls: request.maxToolCalls ?? defaults.max_tool_calls,
    max_turns: request.maxTurns ?? defaults.max_turns,
    timeout_ms: request.timeoutMs ?? defaults.timeout_ms,
    retry_budget: defaults.retry_budget ?? 1,
  };
}

/** The state in its envelopes. A slice that is no text at all is listed under its own label. */
function wrappedState({ state, wrappedAt }: PayloadRequest): WrappedSlice {
  if (state === undefined) return { slice: {}, sources: [] };
  const wrapped = wrapSlice(state.slice, state.source, wrappedAt);
  const unlisted = wrapped.sources.length === 0 && Object.keys(state.slice).length > 0;
  return unlisted ? { ...wrapped, sources: [state.source] } : wrapped;
}

/** A text that came in envelopes keeps the labels that they have. */
function otherLabel(untrusted: UntrustedText): string[] {
  const sources = sourcesOf(untrusted);
  if (sources.includes(untrusted.source)) return [];
  return [
    `${untrusted.source} stands in envelopes already and is listed as they name it: ${sources.join(", ")}`,
  ];
}

/** What the schema cannot say, or says without the next step. */
function requestProblems(request: PayloadRequest, budget: Budget): FieldProblem[] {
  const { role } = request;
  const problems: FieldProblem[] = [];
  const add = (field: string, problem: string) => problems.push({ field, problem });

  const length = countCharacters(request.task);
  const range = `${GOAL_MIN} to ${GOAL_MAX} are allowed`;
  if (request.task.trim() === "") add("goal", `is blank; ${range}: say what is to be done`);
  else if (length < GOAL_MIN)
    add("goal", `${showValue(request.task)} has ${length} characters; ${range}: say more`);
  else if (length > GOAL_MAX)
    add("goal", `has ${length} characters; ${range}: move details into constraints or a file that it names`);

  if (request.stack?.trim() === "") add("stack", "is blank; name a technology or leave it out");
  if (request.parentTraceId === request.traceId)
    add("parent_trace_id", `is ${request.traceId}, the spawn itself; name the spawn that makes the call`);

  const own = `in the agent file of ${role.name}`;
  if (role.maxOutputTokens !== null && budget.max_output_tokens > role.maxOutputTokens)
    add(
      "budget.max_output_tokens",
      `is ${budget.max_output_tokens}; at most ${role.maxOutputTokens}, the max_output_tokens ${own}`,
    );
  if (role.maxTurns !== null && budget.max_turns > role.maxTurns)
    add("budget.max_turns", `is ${budget.max_turns}; at most ${role.maxTurns}, the maxTurns ${own}`);

  const seen = new Set<string>();
  for (const { source } of request.untrusted) {
    const shown = showValue(source);
    if (!isSourceLabel(source)) add("untrusted_inputs", `has the label ${shown}; a label is ${SOURCE_FORM}`);
    else if (seen.has(source)) add("untrusted_inputs", `has the label ${shown} twice; give each its own`);
    seen.add(source);
  }
  return problems;
}
