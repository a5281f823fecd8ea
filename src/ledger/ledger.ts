import { existsSync } from "node:fs";
import { join } from "node:path";
import { Cell, type Decoder } from "./cell.ts";
import { fileKey, namesIn } from "./files.ts";
import { pause } from "./pause.ts";
import { rebuildSession } from "./rebuild.ts";
import { decodeSession, MAX_DAMAGE, type SessionState, type Slot } from "./session-state.ts";
import { hasShape, isCountOrNull, isText, isTextOrNull } from "./shape.ts";
import { recordFromSlot } from "./slot.ts";
import { decodeRecord, type SpawnRecord } from "./spawn-record.ts";
import { type Transition, transitionOf } from "./transition.ts";

/** What is known of a running agent before and after it is bound to its spawn. */
export type AgentEntry = {
  /** trace id of its spawn */
  trace: string | null;
  agentType: string | null;
  /** milliseconds since the epoch of its latest SubagentStart */
  startedAt: number | null;
};

/** What the ledger needs from outside: where it is, until when it may try, and how a session begins. */
export type LedgerOptions = {
  dataFolder: string;
  sessionId: string;
  /** milliseconds of Date.now() after which a change gives up with LedgerBusy */
  deadline: number;
  newSession: () => SessionState;
  /** whether the host has written that an agent's run is over; some ends are told to no hook */
  isFinished?: (agentId: string) => boolean;
};

const DAMAGED = "its record was damaged";

/** Keeps names apart from agent ids, which have no colon. */
const NAME_PREFIX = "name:";

/**
 * One session's spawns on disk (docs/ledger.md). A decision reads the session's state, the caller's record and
 * its ancestors': as many files as the caller is deep, however many spawns there were.
 */
export class Ledger {
  /** files found damaged by this process, for the person to be told */
  readonly damaged: string[] = [];
  /** what this process has changed about spawns, in order: each change of a spawn is made by one process */
  readonly transitions: Transition[] = [];
  private readonly folder: string;
  private readonly sessionCell: Cell<SessionState>;

  constructor(private readonly options: LedgerOptions) {
    this.folder = join(options.dataFolder, "sessions", fileKey(options.sessionId));
    this.sessionCell = this.cell(join(this.folder, "session"), decodeSession);
  }

  /** The session's state, null when nothing was ever recorded for it. */
  session(): SessionState | null {
    const { value, lost } = this.sessionCell.read();
    return lost || (value === null && this.hasSpawns()) ? this.updateSession((state) => state) : value;
  }

  /**
   * Changes the session's state. `change` gets a new state where there is none, may run several times, and
   * returns null to leave it. What damage has taken is rebuilt from the spawns' own records first.
   */
  updateSession(change: (state: SessionState) => SessionState | null): SessionState {
    const fresh = this.options.newSession;
    const state = this.sessionCell.update((value, lost) => {
      // Spawns without a state: somebody removed it. It is written before any spawn's record.
      if (!lost && (value !== null || !this.hasSpawns())) return change(value ?? fresh());
      const { records, unreadable } = this.readRecords();
      const rebuilt = rebuildSession(value ?? fresh(), records, unreadable);
      const noted = { ...rebuilt, damage: [...rebuilt.damage, "session"].slice(-MAX_DAMAGE) };
      return change(noted) ?? noted;
    }, this.options.deadline);
    return state ?? fresh();
  }

  /**
   * A spawn's record by trace id, following a merged spawn to what it became. A spawn whose record was never
   * written or is damaged is known from its slot alone, with its lineage in doubt when something was lost.
   */
  record(trace: string): SpawnRecord | null {
    const { value, lost } = this.recordCell(trace).read();
    if (value !== null && !lost) return value.mergedInto === null ? value : this.record(value.mergedInto);
    const slot = this.sessionCell.read().value?.running[trace];
    if (value === null && slot === undefined) return null;
    if (value === null && slot !== undefined) return this.fromSlot(trace, slot, lost);
    return value === null ? null : { ...value, doubt: DAMAGED };
  }

  /**
   * A spawn whose record cannot be had. Until its agent has an entry, whoever admitted it or took it in may not have
   * written it yet; after that it was lost, and with it what the spawn may do and has used: it may do nothing more.
   */
  private fromSlot(trace: string, slot: Slot, lost: boolean): SpawnRecord {
    const record = recordFromSlot(trace, slot);
    if (!this.isBound(trace, slot)) return lost ? { ...record, doubt: DAMAGED } : record;
    if (!lost) this.damaged.push(this.recordFolder(trace));
    return { ...record, doubt: DAMAGED, barred: "record_lost" };
  }

  private isBound(trace: string, { agent }: Slot): boolean {
    return agent !== null && this.agent(agent)?.trace === trace;
  }

  /** Changes a spawn's record; `change` gets null where none was written, and returns null to leave it. */
  updateRecord(
    trace: string,
    change: (record: SpawnRecord | null) => SpawnRecord | null,
  ): SpawnRecord | null {
    let before: SpawnRecord | null = null;
    let changed = false;
    const noting = (record: SpawnRecord | null) => {
      before = record;
      const next = change(record);
      changed = next !== null;
      return next;
    };
    const after = this.recordCell(trace).update((value, lost) => {
      if (value !== null) return noting(lost ? { ...value, doubt: DAMAGED } : value);
      const slot = this.sessionCell.read().value?.running[trace];
      const known = slot !== undefined && (lost || this.isBound(trace, slot));
      return noting(known ? this.fromSlot(trace, slot, lost) : null);
    }, this.options.deadline);
    const kind = changed && after !== null ? transitionOf(before, after) : null;
    if (kind !== null && after !== null) this.transitions.push({ kind, spawn: after });
    return after;
  }

  /** A spawn's record as soon as there is one, or null after `milliseconds`. */
  awaitRecord(trace: string, milliseconds: number): SpawnRecord | null {
    const until = Date.now() + milliseconds;
    for (;;) {
      if (this.recordCell(trace).read().value !== null) return this.record(trace);
      if (Date.now() >= until) return null;
      pause(2);
    }
  }

  hasRecord(trace: string): boolean {
    return existsSync(this.recordFolder(trace));
  }

  /** The spawn that an Agent call made, by tool_use_id. */
  traceOfCall(call: string): string | null {
    const running = this.sessionCell.read().value?.running ?? {};
    const slot = Object.entries(running).find(([, candidate]) => candidate.call === call);
    return slot?.[0] ?? this.callCell(call).read().value;
  }

  /** Remembers for good which spawn an Agent call made; the first word counts. */
  recordCall(call: string, trace: string): void {
    this.callCell(call).update((known) => (known === null ? trace : null), this.options.deadline);
  }

  agent(agentId: string): AgentEntry | null {
    return this.agentCell(agentId).read().value;
  }

  updateAgent(agentId: string, change: (entry: AgentEntry | null) => AgentEntry | null): AgentEntry | null {
    return this.agentCell(agentId).update(change, this.options.deadline);
  }

  /** The spawn of an agent by its id, or by the name that its caller gave it (the latest of that name). */
  traceOfAgent(idOrName: string): string | null {
    return this.agent(idOrName)?.trace ?? this.agent(NAME_PREFIX + idOrName)?.trace ?? null;
  }

  recordName(name: string, trace: string): void {
    this.updateAgent(NAME_PREFIX + name, (entry) =>
      entry?.trace === trace ? null : { trace, agentType: null, startedAt: null },
    );
  }

  isFinished(agentId: string): boolean {
    return this.options.isFinished?.(agentId) ?? false;
  }

  /** Every spawn's record, oldest first: for people and for rebuilding, never for a decision. */
  allRecords(): SpawnRecord[] {
    return this.readRecords().records;
  }

  /** All records that can be read, and the trace ids of the spawns whose records cannot. */
  private readRecords(): { records: SpawnRecord[]; unreadable: string[] } {
    const records: SpawnRecord[] = [];
    const unreadable: string[] = [];
    // A trace id is its own file key.
    for (const trace of namesIn(join(this.folder, "spawns"))) {
      const { value, lost } = this.recordCell(trace).read();
      if (value !== null) records.push(value);
      else if (lost) unreadable.push(trace);
    }
    records.sort((a, b) => a.admittedAt - b.admittedAt || a.trace.localeCompare(b.trace));
    return { records, unreadable };
  }

  private hasSpawns(): boolean {
    return existsSync(join(this.folder, "spawns"));
  }

  private recordCell(trace: string): Cell<SpawnRecord> {
    return this.cell(this.recordFolder(trace), decodeRecord);
  }

  private agentCell(agentId: string): Cell<AgentEntry> {
    return this.cell(join(this.folder, "agents", fileKey(agentId)), decodeAgent);
  }

  private callCell(call: string): Cell<string> {
    return this.cell(join(this.folder, "calls", fileKey(call)), decodeText);
  }

  private cell<T>(folder: string, decode: Decoder<T>): Cell<T> {
    return new Cell(folder, decode, (file) => this.damaged.push(file));
  }

  private recordFolder(trace: string): string {
    return join(this.folder, "spawns", fileKey(trace));
  }
}

function decodeText(raw: unknown): string | null {
  return isText(raw) ? raw : null;
}

const AGENT: Record<keyof AgentEntry, (value: unknown) => boolean> = {
  trace: isTextOrNull,
  agentType: isTextOrNull,
  startedAt: isCountOrNull,
};

function decodeAgent(raw: unknown): AgentEntry | null {
  return isAgentEntry(raw) ? raw : null;
}

function isAgentEntry(raw: unknown): raw is AgentEntry {
  return hasShape(raw, AGENT);
}
