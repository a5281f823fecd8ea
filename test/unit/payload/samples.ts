import type { PayloadRequest } from "../../../src/payload/build-payload.ts";
import type { SpawnPayload } from "../../../src/payload/spawn-payload.ts";
import type { Role } from "../../../src/roles/role.ts";

export const WRAPPED_AT = "2026-04-27T12:00:00.000Z";

export function aPayload(changes: Partial<SpawnPayload> = {}): SpawnPayload {
  return {
    trace_id: "wf-20260427-abc123-spawn-001",
    parent_trace_id: null,
    subagent_role: "db-engineer",
    goal: "design the schema migration",
    constraints: [],
    state_slice: {},
    allowed_tools: ["Read", "Bash(git log:*)"],
    budget: {
      max_input_tokens: 150_000,
      max_output_tokens: 2000,
      max_tool_calls: 100,
      max_turns: 30,
      timeout_ms: 1_800_000,
      retry_budget: 1,
    },
    untrusted_inputs: [],
    ...changes,
  };
}

export function aRole(changes: Partial<Role> = {}): Role {
  return {
    name: "db-engineer",
    origin: "plugin",
    description: "Designs schemas.",
    tools: ["Read", "Write"],
    disallowedTools: [],
    model: null,
    maxTurns: 30,
    maxOutputTokens: 2000,
    ...changes,
  };
}

export function aRequest(changes: Partial<PayloadRequest> = {}): PayloadRequest {
  return {
    role: aRole(),
    traceId: "wf-20260427-abc123-spawn-001",
    task: "design the schema migration",
    constraints: [],
    untrusted: [],
    wrappedAt: WRAPPED_AT,
    ...changes,
  };
}
