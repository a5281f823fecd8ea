import { type RecordedCall, readRecording } from "../../host/harness/recording.ts";

/** One hook call of a recording, by its place in it. */
export type Step = {
  index: number;
  call: RecordedCall;
  name: string;
  /** the agent that acts; null for the main thread */
  actor: string | null;
  tool: string | null;
  /** tool_use_id */
  id: string | null;
};

/** What is known of an agent of a recording, from its sidecar and its call alone. */
export type RecordedAgent = {
  id: string;
  type: string;
  /** tool_use_id of the Agent, Skill or Workflow call that it comes from */
  from: string;
  /** null for the main thread */
  parent: string | null;
  depth: number;
  /** the outcomes that the recorded endings stand for; session_ended where there is none */
  outcomes: string[];
};

/** A recorded run as what caused what, not as the order it happened to have. */
export class RecordedRun {
  readonly steps: Step[];
  readonly agents: RecordedAgent[];
  readonly sessionId: string;

  constructor(readonly name: string) {
    this.steps = readRecording(name).map((call, index) => ({
      index,
      call,
      name: call.input.hook_event_name,
      actor: text(call.input.agent_id),
      tool: text(call.input.tool_name),
      id: text(call.input.tool_use_id),
    }));
    this.sessionId = String(this.steps[0]?.call.input.session_id);
    const ids = [...new Set(this.steps.flatMap(({ actor }) => actor ?? []))];
    this.agents = ids.map((id) => this.agent(id));
  }

  agentOf(id: string): RecordedAgent {
    const agent = this.agents.find((candidate) => candidate.id === id);
    if (agent === undefined) throw new Error(`${this.name} has no agent ${id}`);
    return agent;
  }

  /** The steps that have to come before each step, by index. */
  causes(): Set<number>[] {
    return this.steps.map((later) => {
      const before = this.steps.slice(0, later.index).filter((earlier) => this.isBefore(earlier, later));
      return new Set(before.map(({ index }) => index));
    });
  }

  /** The workflow run in whose folder an agent's sidecar is. */
  workflowRun(agent: string): string | null {
    const { from } = this.agentOf(agent);
    const launch = this.steps.find(
      ({ id, name, tool }) => id === from && name === "PostToolUse" && tool === "Workflow",
    );
    return text(response(launch)?.runId);
  }

  private isBefore(earlier: Step, later: Step): boolean {
    if (earlier.name === "SessionStart" || later.name === "SessionStart") return true;
    if (earlier.name === "SessionEnd" || later.name === "SessionEnd") return true;
    const notified = notifiedAgent(later);
    if (notified !== null) return earlier.actor === notified || this.concerns(earlier, notified);
    if (earlier.actor !== null && notifiedCall(later) === this.agentOf(earlier.actor).from) return true;
    const told = notifiedAgent(earlier);
    if (told !== null) return later.actor === told;
    if (earlier.actor === later.actor) return this.isBeforeInOneAgent(earlier, later);
    return this.isCause(earlier, later);
  }

  /** Calls of one response run at once; everything else of one agent keeps its order. */
  private isBeforeInOneAgent(earlier: Step, later: Step): boolean {
    if (earlier.id === null || later.id === null || earlier.id === later.id) return true;
    return !this.steps.some(({ call }) => {
      const calls = call.input.tool_calls;
      if (!Array.isArray(calls)) return false;
      const ids = calls.map(({ tool_use_id }) => tool_use_id);
      return ids.includes(earlier.id) && ids.includes(later.id);
    });
  }

  /** No effect before its cause, between two agents. */
  private isCause(earlier: Step, later: Step): boolean {
    if (later.actor !== null) {
      const { from } = this.agentOf(later.actor);
      // An agent acts after the call that started it, and after the message that resumed it.
      if (earlier.name === "PreToolUse" && earlier.id === from) return true;
      if (earlier.tool === "SendMessage" && earlier.name === "PreToolUse") return true;
      const result = resultOf(earlier);
      if (result !== null && !result.launched && result.agent === later.actor) return true;
    }
    if (earlier.actor !== null) {
      const result = resultOf(later);
      // The result of a call that was waited for comes after all that its agent did.
      if (result !== null && !result.launched && result.agent === earlier.actor) return true;
      const { from } = this.agentOf(earlier.actor);
      if (later.name === "PostToolUseFailure" && later.id === from) return true;
      // What is stopped does nothing more, and neither does a child that dies with it.
      const stopped =
        later.tool === "TaskStop" && later.name === "PostToolUse" ? response(later)?.task_id : null;
      if (stopped === earlier.actor) return true;
      if (
        stopped != null &&
        this.agentOf(earlier.actor).parent === stopped &&
        this.diesSilently(earlier.actor)
      ) {
        return true;
      }
    }
    return false;
  }

  private concerns(step: Step, agent: string): boolean {
    return step.id === this.agentOf(agent).from || text(response(step)?.task_id) === agent;
  }

  private isStopped(agent: string): boolean {
    return this.steps.some(
      (step) => step.name === "PostToolUse" && step.tool === "TaskStop" && response(step)?.task_id === agent,
    );
  }

  private diesSilently(agent: string): boolean {
    return !this.steps.some(({ actor, name }) => actor === agent && name === "SubagentStop");
  }

  private agent(id: string): RecordedAgent {
    const own = this.steps.filter(({ actor }) => actor === id);
    const sidecars = own.map(({ call }) => call.sidecar ?? {});
    const from =
      sidecars.map(({ toolUseId }) => text(toolUseId)).find((call) => call !== null) ??
      this.steps.find((step) => resultOf(step)?.agent === id)?.id ??
      this.steps.find(({ tool, name }) => tool === "Workflow" && name === "PreToolUse")?.id;
    const call = this.steps.find((step) => step.id === from && step.name === "PreToolUse");
    if (from == null || call === undefined) throw new Error(`${this.name}: no call explains agent ${id}`);
    const parent = call.actor;
    return {
      id,
      type: String(own[0]?.call.input.agent_type),
      from,
      parent,
      depth: parent === null ? 1 : this.agent(parent).depth + 1,
      outcomes: this.outcomes(id, from),
    };
  }

  private outcomes(id: string, from: string): string[] {
    const outcomes = this.steps.flatMap((step): string[] => {
      if (step.actor === id && step.name === "SubagentStop") return ["completed"];
      if (step.actor === id && step.name === "StopFailure") return ["failed"];
      if (step.id === from && step.name === "PostToolUseFailure") return ["failed"];
      if (step.name === "PostToolUse" && step.tool === "TaskStop" && response(step)?.task_id === id) {
        return ["stopped"];
      }
      const result = resultOf(step);
      if (result?.agent === id && !result.launched) {
        return [JSON.stringify(response(step)).includes("-turn limit") ? "turn_limit" : "completed"];
      }
      if (notifiedAgent(step) !== id) return [];
      const prompt = String(step.call.input.prompt);
      const status = /<status>(\w+)<\/status>/.exec(prompt)?.[1] ?? "";
      if (status === "completed" && prompt.includes("-turn limit")) return ["turn_limit"];
      return [{ completed: "completed", failed: "failed", killed: "stopped" }[status] ?? "unknown"];
    });
    if (outcomes.length > 0) return [...new Set(outcomes)];
    // A child that was waited for dies with its parent, and no event tells of it.
    const parent = this.steps.find((step) => step.id === from)?.actor ?? null;
    return parent !== null && this.isStopped(parent) ? ["stopped"] : ["session_ended"];
  }
}

/** The agent that a PostToolUse of Agent or Skill names, and whether it was only launched. */
function resultOf(step: Step): { agent: string; launched: boolean } | null {
  if (step.name !== "PostToolUse" || (step.tool !== "Agent" && step.tool !== "Skill")) return null;
  const { agentId, status } = response(step) ?? {};
  return typeof agentId === "string" ? { agent: agentId, launched: status === "async_launched" } : null;
}

function notifiedAgent(step: Step): string | null {
  if (step.name !== "UserPromptSubmit") return null;
  return /<task-id>(a[0-9a-f]+)<\/task-id>/.exec(String(step.call.input.prompt))?.[1] ?? null;
}

function notifiedCall(step: Step): string | null {
  if (step.name !== "UserPromptSubmit") return null;
  return /<tool-use-id>(\w+)<\/tool-use-id>/.exec(String(step.call.input.prompt))?.[1] ?? null;
}

function response(step: Step | undefined): Record<string, unknown> | null {
  const value = step?.call.input.tool_response;
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** An order in which every step comes after its causes; `chance` gives numbers from 0 to 1. */
export function anyOrder(causes: readonly ReadonlySet<number>[], chance: () => number): number[] {
  const order: number[] = [];
  const left = new Set(causes.keys());
  while (left.size > 0) {
    const ready = [...left].filter((index) => [...(causes[index] ?? [])].every((cause) => !left.has(cause)));
    const next = ready[Math.floor(chance() * ready.length)];
    if (next === undefined) throw new Error("the causes go in a circle");
    order.push(next);
    left.delete(next);
  }
  return order;
}

/** Repeatable chance (mulberry32). */
export function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
