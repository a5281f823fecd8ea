import type { Json } from "../ledger/shape.ts";

/**
 * The parts of ACS v0.1.0 that a receipt is made of: the JSON-RPC request of one step, and the verdict that its
 * response holds. Names and shapes are the standard's.
 */
export const ACS_VERSION = "0.1.0";

export type StepMethod =
  | "steps/sessionStart"
  | "steps/toolCallRequest"
  | "steps/subagentStart"
  | "steps/subagentStop"
  | "steps/sessionEnd";

export type Metadata = { agent_id: string; session_id: string; [member: string]: unknown };

export type Signature = { algorithm: "HMAC-SHA256"; value: string; key_id: string };

export type Request = {
  jsonrpc: "2.0";
  method: StepMethod;
  id: string;
  params: {
    acs_version: typeof ACS_VERSION;
    request_id: string;
    /** RFC 3339, UTC */
    timestamp: string;
    metadata: Metadata;
    payload: Json;
    signature?: Signature;
  };
};

/** What was decided; `data` are the facts that it rests on. */
export type Verdict = {
  decision: "allow" | "deny" | "ask";
  codes: string[];
  reasoning?: string;
  data?: Json;
};

export type Response = {
  jsonrpc: "2.0";
  id: string;
  result: {
    type: "final";
    acs_version: typeof ACS_VERSION;
    request_id: string;
    decision: Verdict["decision"];
    reasoning?: string;
    reason_codes: string[];
    policy_data?: { spawn_guard: Json };
    chain_hash: string;
    metadata: { evaluator: "deterministic" };
    signature?: Signature;
  };
};

/** A step that has been decided and is to be recorded. */
export type Step = { request: Request; verdict: Verdict };

export type Entry = {
  entry_id: string;
  step_id: string;
  step_type: StepMethod;
  timestamp: string;
  request_hash: string;
  previous_hash: string | null;
  entry_hash: string;
};

/** One line of a chain. */
export type Receipt = { request: Request; entry: Entry; response: Response; line_hash: string };

/**
 * A line's size is bounded (case 120), whatever a model writes: these are characters, of which each has at most six
 * bytes in a line. What goes beyond is left to sizes, numbers and hashes.
 */
export const MAX_NAME = 100;
export const MAX_CONTENT = 4_000;

/** Longer reasons are cut: a line's size is bounded (case 120). */
const MAX_REASONING = 1000;

/** The response to a recorded step; `chainHash` is the hash of its entry. */
export function responseTo({ request, verdict }: Step, chainHash: string): Response {
  const { request_id } = request.params;
  return {
    jsonrpc: "2.0",
    id: request.id,
    result: {
      type: "final",
      acs_version: ACS_VERSION,
      request_id,
      decision: verdict.decision,
      ...(verdict.reasoning === undefined ? {} : { reasoning: cut(verdict.reasoning, MAX_REASONING) }),
      reason_codes: verdict.codes,
      ...(verdict.data === undefined ? {} : { policy_data: { spawn_guard: verdict.data } }),
      chain_hash: chainHash,
      metadata: { evaluator: "deterministic" },
    },
  };
}

/** The first `length` characters, without half a surrogate pair: RFC 8785 has no bytes for one. */
export function cut(text: string, length: number): string {
  return text.slice(0, length).replace(/\p{Surrogate}/gu, "\uFFFD");
}
