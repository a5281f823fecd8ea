import { homedir } from "node:os";
import { join } from "node:path";
import { Ledger } from "../ledger/ledger.ts";
import { type Environment, loadPolicy } from "../policy/load-policy.ts";
import type { ResolvedPolicy } from "../policy/resolve-policy.ts";
import { readSidecar, type Sidecar } from "../transcript/sidecar.ts";
import type { HookEvent } from "./hook-event.ts";

/** A hook gives up on the ledger after this many milliseconds; hooks.json declares at least twice as many. */
const DEADLINE_MS = 10_000;
const RUN_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** What a decision needs from outside: time, place, policy and the session's ledger. */
export class HookContext {
  readonly projectFolder: string;
  readonly configFolder: string;
  private opened: { ledger: Ledger; event: HookEvent } | null = null;
  private resolved: ResolvedPolicy | null = null;

  constructor(
    readonly environment: Environment,
    /** milliseconds since the epoch */
    readonly now: number,
  ) {
    this.projectFolder = environment.CLAUDE_PROJECT_DIR || process.cwd();
    this.configFolder = environment.CLAUDE_CONFIG_DIR || join(homedir(), ".claude");
  }

  open(event: HookEvent): void {
    const ledger = new Ledger({
      dataFolder: this.environment.CLAUDE_PLUGIN_DATA || join(this.configFolder, "spawn-guard"),
      sessionId: event.sessionId,
      deadline: this.now + DEADLINE_MS,
      newRun,
      baseDepth: 0,
    });
    this.opened = { ledger, event };
  }

  get ledger(): Ledger {
    if (this.opened === null) throw new Error("the ledger is asked for before the event is known");
    return this.opened.ledger;
  }

  get policy(): ResolvedPolicy["policy"] {
    return this.resolvedPolicy().policy;
  }

  resolvedPolicy(): ResolvedPolicy {
    this.resolved ??= loadPolicy(this.environment, this.projectFolder, this.configFolder);
    return this.resolved;
  }

  sidecar(): Sidecar | null {
    const event = this.opened?.event;
    if (event === undefined || event.agentId === null) return null;
    return readSidecar(event.transcriptPath, event.sessionId, event.agentId);
  }

  /** What the person has to know of damage found on the way, or null. */
  damageReport(): string | null {
    const damaged = this.opened?.ledger.damaged ?? [];
    if (damaged.length === 0) return null;
    return `spawn-guard found damage in its ledger and set it aside: ${damaged.map((file) => `${file}.damaged`).join(", ")}`;
  }
}

/** The random part of trace ids; it has to be unlikely to meet another session's, not hard to guess. */
function newRun(): string {
  return Array.from({ length: 6 }, () => RUN_ALPHABET[Math.floor(Math.random() * RUN_ALPHABET.length)]).join(
    "",
  );
}
