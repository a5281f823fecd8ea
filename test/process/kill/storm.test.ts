import { describe, expect, it } from "vitest";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { gaveBack } from "../../../src/ledger/rebuild.ts";
import { isJson } from "../../../src/ledger/shape.ts";
import { chainsOf, verified } from "../../support/receipts.ts";
import { DecidedSession } from "../../unit/ledger/decided-session.ts";
import { patience, rounds } from "../race/rounds.ts";
import { hookProcess, type Outcome } from "./hook-process.ts";

type Json = Record<string, unknown>;

const KILLS = rounds("KILLS", 60);
/** hook processes at a time */
const AT_ONCE = 12;
/** kills in one session, before the next is begun */
const KILLS_A_SESSION = 60;
const GENERAL = "general-purpose";

/** An agent call of the storm, as its host would know it. */
type Call = { id: string; caller: Agent | null; answered: boolean; trace: string | null };
type Agent = { id: string; call: Call; depth: number; ended: boolean };

/** Plays a host whose hook processes are killed at random moments, several at once. */
class Storm {
  readonly session = new DecidedSession(undefined, {
    max_spawns_per_session: 100_000,
    max_concurrent_spawns: 100_000,
    max_children_per_spawn: 100_000,
  });
  readonly calls: Call[] = [];
  readonly agents: Agent[] = [];
  kills = 0;
  /** the longest that a hook has run so far, in milliseconds: kills are spread over it */
  private lifetime = 100;
  private next = 0;

  async blow(kills: number): Promise<void> {
    await this.send(this.session.event("SessionStart", { source: "startup" }), false);
    await this.wave(6, false);
    while (this.kills < kills) await this.wave(AT_ONCE, true);
  }

  /** Sends events of as many different agents and calls, all at once. */
  private async wave(count: number, killing: boolean): Promise<void> {
    const idle = this.agents.filter(({ ended }) => !ended);
    const acts: Promise<void>[] = [];
    for (let index = 0; index < count; index++) {
      const agent =
        Math.random() < 0.6 ? idle.splice(Math.floor(Math.random() * idle.length), 1)[0] : undefined;
      acts.push(agent === undefined ? this.call(null, killing) : this.act(agent, killing));
    }
    await Promise.all(acts);
    if (Math.random() < 0.3) await this.send(this.batch(null), killing);
  }

  /** An Agent call and, if it was answered, its result and its agent's start, at once as the host does it. */
  private async call(caller: Agent | null, killing: boolean): Promise<void> {
    const call: Call = { id: `c${this.next++}`, caller, answered: false, trace: null };
    this.calls.push(call);
    const { answer } = await this.send(this.session.agentCall(call.id, by(caller)), killing);
    if (answer === null) return;
    const { updatedInput } = answer.hookSpecificOutput as { updatedInput?: { prompt: string } };
    call.answered = true;
    call.trace = /"trace_id":"([^"]+)"/.exec(updatedInput?.prompt ?? "")?.[1] ?? "none";
    const agent: Agent = { id: `a${call.id}`, call, depth: (caller?.depth ?? 0) + 1, ended: false };
    this.session.sidecar(agent.id, {
      agentType: GENERAL,
      toolUseId: call.id,
      spawnDepth: agent.depth,
      ...(caller === null ? {} : { parentAgentId: caller.id }),
    });
    this.agents.push(agent);
    await Promise.all([
      this.send(this.session.launched(call.id, agent.id, by(caller)), killing),
      this.send(this.session.agentEvent("SubagentStart", agent.id), killing),
    ]);
  }

  private async act(agent: Agent, killing: boolean): Promise<void> {
    const chance = Math.random();
    if (chance < 0.35 && agent.depth < 3) {
      await this.call(agent, killing);
      if (Math.random() < 0.5) await this.send(this.batch(agent), killing);
    } else if (chance < 0.6) {
      await this.send(this.session.toolCall(agent.id, { tool_use_id: `r${this.next++}` }), killing);
    } else if (chance < 0.8) {
      await this.send(this.batch(agent), killing);
    } else {
      agent.ended = true;
      await this.send(this.session.agentEvent("SubagentStop", agent.id), killing);
    }
  }

  batch(caller: Agent | null): Json {
    const tool_calls = [{ tool_name: "Agent", tool_use_id: "any", tool_input: {} }];
    return this.session.event("PostToolBatch", { ...by(caller), tool_calls });
  }

  private async send(event: Json, killing: boolean): Promise<Outcome> {
    // Half of the kills come while a hook does its work, after Node has started.
    const moment = Math.random() < 0.5 ? Math.random() : 0.6 + 0.4 * Math.random();
    const kill = killing && Math.random() < 0.6 ? moment * this.lifetime : null;
    const outcome = await hookProcess(this.session, event, kill);
    if (outcome.killed) this.kills += 1;
    else this.lifetime = 0.9 * this.lifetime + 0.1 * outcome.milliseconds;
    return outcome;
  }
}

function by(caller: Agent | null): Json {
  return caller === null ? {} : { agent_id: caller.id, agent_type: GENERAL };
}

/** Trace ids of the spawns that hold a slot or held one, without those that gave it back. */
function counted(ledger: Ledger): Set<string> {
  const traces = new Set(Object.keys(ledger.session()?.running ?? {}));
  for (const record of ledger.allRecords()) if (!gaveBack(record)) traces.add(record.trace);
  return traces;
}

describe("hook processes killed at random moments, many at once", () => {
  it(
    `leave a ledger that reads clean, counts right and goes on (${KILLS} kills)`,
    patience(KILLS / 10),
    async () => {
      for (let kills = 0; kills < KILLS; ) {
        const storm = new Storm();
        const { session } = storm;
        try {
          await storm.blow(Math.min(KILLS_A_SESSION, KILLS - kills));
          kills += storm.kills;

          // Right after the storm: no damage, every answered admission is known, and the count is what is held.
          const ledger = session.open();
          const state = ledger.session();
          expect({ damage: state?.damage, damaged: ledger.damaged }).toEqual({ damage: [], damaged: [] });
          const answered = storm.calls.filter((call) => call.answered);
          for (const call of answered) {
            expect(ledger.traceOfCall(call.id), call.id).toBe(call.trace);
            expect(ledger.record(String(call.trace)), call.id).toMatchObject({ call: call.id, doubt: null });
          }
          expect(state?.admitted).toBe(counted(ledger).size);
          expect(new Set(answered.map(({ trace }) => trace)).size).toBe(answered.length);

          // Every answer has its receipts, once, however many writers were killed since.
          expect(verified(session).broken).toEqual([]);
          const started = [...chainsOf(session).values()].flat().flatMap(({ request }) => {
            const { spawn_guard: facts } = request.params.metadata;
            return request.method === "steps/toolCallRequest" && isJson(facts)
              ? String(facts.tool_use_id)
              : [];
          });
          expect(new Set(started).size).toBe(started.length);
          expect(started).toEqual(expect.arrayContaining(answered.map(({ id }) => id)));

          // Calls that got no answer were blocked, so their callers' batches give their slots back.
          session.now = Date.now();
          for (const caller of [null, ...storm.agents]) await session.decide(storm.batch(caller));
          const slots = Object.values(session.state.running);
          expect(slots.filter(({ agent }) => agent === null)).toEqual([]);

          // Every agent that runs can work, and every agent that started counts once.
          for (const agent of storm.agents) {
            expect(await session.decide(session.toolCall(agent.id)), agent.id).toEqual({});
          }
          const parents = new Map(storm.agents.map(({ id, call }) => [id, call.trace]));
          for (const { id, call, depth } of storm.agents) {
            expect(session.open().record(String(call.trace))).toMatchObject({
              agent: id,
              depth,
              parent: call.caller === null ? null : (parents.get(call.caller.id) ?? "unknown"),
              phase: "running",
              doubt: null,
            });
          }
          expect(session.state.admitted).toBe(storm.agents.length);
          expect(Object.keys(session.state.running)).toHaveLength(storm.agents.length);

          for (const { id } of storm.agents) await session.decide(session.agentEvent("SubagentStop", id));
          expect(session.state).toMatchObject({ admitted: storm.agents.length, running: {}, damage: [] });
          const { broken, notices } = verified(session);
          expect(broken).toEqual([]);
          expect(notices.filter((notice) => notice.includes("not written yet"))).toEqual([]);
        } finally {
          session.remove();
        }
      }
    },
  );

  it("leave slots that are taken back after their spawns' timeout, when no batch ever comes", async () => {
    const session = new DecidedSession(undefined, { max_concurrent_spawns: 10 });
    try {
      // Killed between taking the slot and answering: as many as it takes to fill every slot.
      for (let call = 0; call < 10; call++) await session.decide(session.agentCall(`c${call}`));
      expect((await session.decide(session.agentCall("more"))).deny).toContain("10 spawns are running");
      const ledger = session.open();
      for (const trace of Object.keys(session.state.running)) age(ledger, trace);
      const { answer } = await hookProcess(session, session.agentCall("later"), null);
      expect(answer?.hookSpecificOutput).toHaveProperty("updatedInput");
      expect(Object.values(session.state.running).map(({ call }) => call)).toEqual(["later"]);
      const outcomes = session.ledger().spawns.map(({ outcome }) => outcome);
      expect(outcomes.filter((outcome) => outcome === "timed_out")).toHaveLength(10);
    } finally {
      session.remove();
    }
  });
});

/** Makes a spawn as old as its timeout. */
function age(ledger: Ledger, trace: string): void {
  const timeout = ledger.record(trace)?.payload.budget.timeout_ms ?? 0;
  ledger.updateRecord(trace, (record) =>
    record === null ? null : { ...record, seenAt: record.seenAt - timeout },
  );
  ledger.updateSession((state) => {
    const slot = state.running[trace];
    if (slot === undefined) return null;
    return { ...state, running: { ...state.running, [trace]: { ...slot, since: slot.since - timeout } } };
  });
}
