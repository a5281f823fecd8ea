import type { SpawnPayload } from "../payload/spawn-payload.ts";
import type { Policy } from "../policy/policy-keys.ts";
import type { Role } from "../roles/role.ts";
import type { ScopeMode } from "./intent.ts";
import type { Lineage } from "./lineage.ts";

/** `tool_input` of an Agent call; members that the guard does not know are handed on as they are. */
export type AgentInput = {
  description: string;
  prompt: string;
  subagent_type?: string;
  [member: string]: unknown;
};

/** Who makes the call: the host says so by agent_id, nobody has to be believed. */
export type Caller =
  | { kind: "main" /** what the session may do in all */; intent: readonly string[] }
  | {
      kind: "spawn";
      trace: string;
      depth: number;
      lineage: Lineage;
      /** what it may use, what it may not, and the roles to which it may hand their own tools */
      tools: readonly string[];
      disallowed: readonly string[];
      inheritedBans: readonly string[];
      /** what it may use or hand on in all */
      intent: readonly string[];
      scope: ScopeMode;
      handsOn: readonly string[];
      isProjectRole: boolean;
      /** what it has left of its own budget: tokens, and milliseconds */
      left: { inputTokens: number; timeMs: number };
    };

/** The agent that a call asks for. */
export type Target = {
  role: Role;
  /** the type as the host knows it, `spawn-guard:<role>` for the plugin's own */
  agentType: string;
  /** false for an agent type that no agent file and no built-in explains */
  known: boolean;
  /** the tools of the roles that its agent file lets it hand their own (`Agent(a, b)`) */
  handedTools?: readonly string[];
};

/** The payload in a call's prompt, looked for and checked before the decision. */
export type GivenPayload =
  | { kind: "none" }
  | { kind: "many"; count: number }
  /** `problem` says what is wrong, in a sentence's middle */
  | { kind: "unusable"; problem: string }
  /** `typed` for one that the person asked for with /subagent-spawn, unchanged */
  | { kind: "one"; payload: SpawnPayload; typed?: true };

/** One Agent call, with everything that decides about it besides the session's state. */
export type SpawnRequest = {
  /** tool_use_id */
  call: string;
  /** the same for an identical attempt of the same caller */
  key: string;
  caller: Caller;
  input: AgentInput;
  payload: GivenPayload;
  target: Target;
  policy: Policy;
  /** milliseconds since the epoch */
  now: number;
  /** whether the ledger holds a spawn of this trace id */
  traceUsed: (trace: string) => boolean;
};
