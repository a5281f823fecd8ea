import { join } from "node:path";
import { Ledger } from "../ledger/ledger.ts";
import type { Meter } from "../ledger/meter.ts";
import { newSession } from "../ledger/session-state.ts";
import {
  AUDIT_KEY,
  AUDIT_KEY_VARIABLE,
  type Environment,
  type LoadedPolicy,
  loadPolicy,
  OPTION_PREFIX,
} from "../policy/load-policy.ts";
import type { Policy } from "../policy/policy-keys.ts";
import { readTranscript } from "../transcript/read-transcript.ts";
import { readSidecar, type Sidecar } from "../transcript/sidecar.ts";
import { findTranscript } from "../transcript/transcript-place.ts";
import { newTranscriptState } from "../transcript/transcript-state.ts";
import { usageTotals } from "../transcript/usage.ts";
import type { HookEvent } from "./hook-event.ts";

/** A hook gives up on the ledger after this many milliseconds; hooks.json declares twice as many, for SessionEnd half: the host gives that little. */
export const DEADLINE_MS = 10_000;
/** Names the session from whose shell this one was started. */
export const OUTER_SESSION = "SPAWN_GUARD_SESSION";
const RUN_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** What a decision needs from outside: time, place, policy and the session's ledger. */
export class HookContext {
  readonly projectFolder: string;
  readonly configFolder: string;
  private opened: { ledger: Ledger; event: HookEvent } | null = null;
  private resolved: LoadedPolicy | null = null;
  /** what the person has to be told besides the answer */
  readonly notes: string[] = [];

  constructor(
    readonly environment: Environment,
    /** milliseconds since the epoch */
    readonly now: number,
  ) {
    this.projectFolder = environment.CLAUDE_PROJECT_DIR || process.cwd();
    this.configFolder =
      environment.CLAUDE_CONFIG_DIR || join(environment.HOME || environment.USERPROFILE || ".", ".claude");
  }

  open(event: HookEvent): void {
    const outer = this.environment[OUTER_SESSION];
    const nested = outer !== undefined && outer !== "" && outer !== event.sessionId;
    const begun = (baseDepth: number) => newSession(newRun(), baseDepth, this.intentAtStart());
    const place = { dataFolder: this.dataFolder, deadline: this.deadline };
    const ledger = new Ledger({
      ...place,
      sessionId: event.sessionId,
      newSession: () =>
        begun(
          nested ? depthWithin(new Ledger({ ...place, sessionId: outer, newSession: () => begun(0) })) : 0,
        ),
      isFinished: (agentId) => this.sidecarOf(agentId)?.finished ?? false,
    });
    this.opened = { ledger, event };
  }

  get dataFolder(): string {
    return this.environment.CLAUDE_PLUGIN_DATA || join(this.configFolder, "spawn-guard");
  }

  /** milliseconds of Date.now() */
  get deadline(): number {
    return this.now + DEADLINE_MS;
  }

  get event(): HookEvent {
    if (this.opened === null) throw new Error("the event is not known yet");
    return this.opened.event;
  }

  get ledger(): Ledger {
    if (this.opened === null) throw new Error("the ledger is asked for before the event is known");
    return this.opened.ledger;
  }

  get policy(): Policy {
    return this.resolvedPolicy().policy;
  }

  resolvedPolicy(): LoadedPolicy {
    if (this.resolved === null) {
      const before = this.namedBefore();
      const { environment, projectFolder, configFolder } = this;
      this.resolved = loadPolicy(environment, projectFolder, configFolder, before);
      this.remember(this.resolved.projectKeys.filter((key) => !before.includes(key)));
    }
    return this.resolved;
  }

  /** The key that the environment holds for signing receipts, unless the project put it there. */
  get auditKey(): string | null {
    const key = this.environment[AUDIT_KEY_VARIABLE];
    return key === undefined || key === "" || this.resolvedPolicy().projectKeys.includes(AUDIT_KEY)
      ? null
      : key;
  }

  /** Of a session that has no state yet, in which nobody can have named anything: the policy may not be known so far. */
  private intentAtStart(): string {
    const { environment, projectFolder, configFolder } = this;
    const { policy } = this.resolved ?? loadPolicy(environment, projectFolder, configFolder);
    return policy.session_intent;
  }

  /** The policy keys that the project's settings named earlier in the session. */
  private namedBefore(): string[] {
    const hasOptions = Object.keys(this.environment).some(
      (name) => name.startsWith(OPTION_PREFIX) || name === AUDIT_KEY_VARIABLE,
    );
    return hasOptions ? (this.opened?.ledger.session()?.projectKeys ?? []) : [];
  }

  private remember(fresh: readonly string[]): void {
    if (fresh.length === 0) return;
    this.opened?.ledger.updateSession((state) => {
      const projectKeys = [...new Set([...state.projectKeys, ...fresh])];
      return projectKeys.length === state.projectKeys.length ? null : { ...state, projectKeys };
    });
  }

  /** What the host wrote beside an agent's transcript, or null. */
  sidecarOf(agentId: string): Sidecar | null {
    const event = this.opened?.event;
    return event === undefined ? null : readSidecar(event.transcriptPath, event.sessionId, agentId);
  }

  /** A spawn's meter, read on in its agent's transcript; `given` is where an event says that it is. */
  readOn(meter: Meter, agentId: string | null, given: string | null = null): Meter {
    const event = this.opened?.event;
    if (event === undefined || agentId === null) return meter;
    const file = findTranscript(event.transcriptPath, event.sessionId, agentId, given);
    const transcript = file === null ? meter.transcript : readTranscript(file, meter.transcript);
    return transcript === meter.transcript ? meter : { ...meter, transcript };
  }

  /** The ids of all tool calls in an agent's transcript, each once. */
  toolUsesOf(agentId: string): string[] {
    const event = this.opened?.event;
    const file = event === undefined ? null : findTranscript(event.transcriptPath, event.sessionId, agentId);
    const ids = new Set<string>();
    if (file !== null) readTranscript(file, newTranscriptState(0), (id) => ids.add(id));
    return [...ids];
  }

  /** Messages of the model in a spawn's transcript, as far as it has been read. */
  messagesIn(meter: Meter): number {
    return usageTotals(meter.transcript.meter, true).messages;
  }

  /** What the person has to know of damage found on the way, or null. */
  report(): string | null {
    const damaged = this.opened?.ledger.damaged ?? [];
    const lines = [...this.notes];
    if (damaged.length > 0) {
      lines.push(
        `spawn-guard found damage in its ledger and set it aside: ${damaged.map((file) => `${file}.damaged`).join(", ")}`,
      );
    }
    return lines.length === 0 ? null : lines.join("\n");
  }
}

/**
 * The depth of a session's main thread that another session's shell started: which of its agents did is not known,
 * so it is the deepest that runs.
 */
function depthWithin(outer: Ledger): number {
  const state = outer.session();
  const depths = Object.values(state?.running ?? {}).map((slot) => slot.depth);
  return Math.max(state?.baseDepth ?? 0, ...depths) + 1;
}

/** The random part of trace ids; it has to be unlikely to meet another session's, not hard to guess. */
function newRun(): string {
  return Array.from({ length: 6 }, () => RUN_ALPHABET[Math.floor(Math.random() * RUN_ALPHABET.length)]).join(
    "",
  );
}
