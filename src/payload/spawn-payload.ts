/**
 * The G7 spawn payload: the JSON object that travels inside an Agent prompt and describes one spawn.
 * Names and bounds: plugin/schemas/spawn-payload.schema.json.
 */
export type SpawnPayload = {
  trace_id: string;
  parent_trace_id?: string | null;
  subagent_role: string;
  required?: boolean;
  goal: string;
  constraints: string[];
  state_slice?: Record<string, unknown>;
  allowed_tools: string[];
  budget: Budget;
  untrusted_inputs?: UntrustedInput[];
};

export type Budget = {
  /** tokens of context growth */
  max_input_tokens: number;
  /** tokens of the final message */
  max_output_tokens: number;
  max_tool_calls: number;
  max_turns: number;
  /** milliseconds of running time */
  timeout_ms: number;
  retry_budget?: number;
};

export type UntrustedInput = { source: string; wrapped: boolean };

/** One thing wrong with a value, in the order a reader needs it: which field, what is wrong, the bound. */
export type FieldProblem = { field: string; problem: string };
