import { admitSpawn } from "../src/ledger/admission.ts";
import { bindCall } from "../src/ledger/binding.ts";
import { endSpawn } from "../src/ledger/ending.ts";
import { Ledger } from "../src/ledger/ledger.ts";
import { newSession } from "../src/ledger/session-state.ts";
import { DEFAULT_POLICY } from "../src/policy/policy-keys.ts";
import { BUILTIN_ROLES } from "../src/roles/builtin-roles.ts";
import type { HookSession } from "../test/support/hook-session.ts";

/** Gives a session as many ended spawns as asked for, by the code that the hooks run. */
export async function manySpawns(session: HookSession, count: number): Promise<void> {
  const ledger = ledgerOf(session);
  const role = BUILTIN_ROLES.find(({ name }) => name === "general-purpose");
  if (role === undefined) throw new Error("general-purpose is no built-in");
  const policy = { ...DEFAULT_POLICY, max_spawns_per_session: count + 1 };
  const now = Date.now();
  for (let made = 0; made < count; made++) {
    const call = `earlier-${made}`;
    admitSpawn(ledger, {
      call,
      key: call,
      caller: { kind: "main", intent: ["*"] },
      input: { description: "an earlier spawn", prompt: "look at one part" },
      payload: { kind: "none" },
      target: { role, agentType: role.name, known: true },
      policy,
      now,
      traceUsed: (trace) => ledger.hasRecord(trace),
    });
    const spawn = bindCall(ledger, call, { agentId: `agent-${made}`, agentType: role.name }, policy, now);
    if (spawn !== null) endSpawn(ledger, spawn.trace, "completed", null, now);
  }
}

/** Ends what runs in a session, so that its next decision finds it as quiet as its first. */
export function endRunning(session: HookSession): void {
  const ledger = ledgerOf(session);
  for (const trace of Object.keys(ledger.session()?.running ?? {})) {
    endSpawn(ledger, trace, "completed", null, Date.now());
  }
}

function ledgerOf(session: HookSession): Ledger {
  return new Ledger({
    dataFolder: session.data,
    sessionId: session.sessionId,
    deadline: Number.MAX_SAFE_INTEGER,
    newSession: () => newSession("bench0", 0, "*"),
  });
}
