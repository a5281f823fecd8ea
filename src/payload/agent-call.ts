import type { Role } from "../roles/role.ts";
import type { SpawnPayload } from "./spawn-payload.ts";
import { spawnPrompt } from "./spawn-prompt.ts";
import type { UntrustedText } from "./untrusted-content.ts";

/** The input of Claude Code's Agent tool, as far as a payload decides it. */
export type AgentInput = { description: string; subagent_type: string; name: string; prompt: string };

export type AgentCall = {
  agentInput: AgentInput;
  /** the same as a JavaScript expression, `Agent({…})` */
  agentCall: string;
};

export type AgentCallRequest = {
  payload: SpawnPayload;
  role: Role;
  /** the plugin's name in its manifest; the host knows a plugin's agents only as `plugin:agent` */
  pluginName: string;
  untrusted: readonly UntrustedText[];
  /** when these were taken in, ISO 8601 */
  wrappedAt: string;
};

/** The Agent call that carries a payload. */
export function buildAgentCall({
  payload,
  role,
  pluginName,
  untrusted,
  wrappedAt,
}: AgentCallRequest): AgentCall {
  const agentInput = {
    description: describe(role.name, payload.goal),
    subagent_type: role.origin === "plugin" ? `${pluginName}:${role.name}` : role.name,
    name: `${role.name}-${payload.trace_id.slice(payload.trace_id.lastIndexOf("-") + 1)}`,
    prompt: spawnPrompt(payload, role, untrusted, wrappedAt),
  };
  return { agentInput, agentCall: callLiteral(agentInput) };
}

function callLiteral(input: AgentInput): string {
  const members = Object.entries(input).map(([key, text]) => `${key}: ${stringLiteral(text)}`);
  return `Agent({${members.join(", ")}})`;
}

/** A JSON string; the two line separators that JSON allows raw in a string are escaped for older JavaScript. */
function stringLiteral(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

const DESCRIPTION_WORDS = 6;
const WORD_CHARACTERS = 24;

/** Three to six words: the role and the beginning of the task. */
function describe(role: string, goal: string): string {
  const words = goal
    .split(/[\s\p{C}]+/u)
    .filter((word) => word !== "")
    .map((word) => Array.from(word).slice(0, WORD_CHARACTERS).join(""));
  const lead = words.length < 2 ? [`${role}:`, "the", "task"] : [`${role}:`];
  return [...lead, ...words].slice(0, DESCRIPTION_WORDS).join(" ");
}
