import { Ledger } from "../../src/ledger/ledger.ts";
import { newSession, type SessionState } from "../../src/ledger/session-state.ts";
import type { SpawnRecord } from "../../src/ledger/spawn-record.ts";

/** A session's ledger as it stands on disk. */
export function readLedger(
  dataFolder: string,
  sessionId: string,
): { session: SessionState; spawns: SpawnRecord[] } {
  const ledger = new Ledger({
    dataFolder,
    sessionId,
    deadline: Date.now() + 1000,
    newSession: () => newSession("xxxxxx", 0, "*"),
  });
  const session = ledger.session();
  if (session === null) throw new Error(`no ledger of session ${sessionId} in ${dataFolder}`);
  return { session, spawns: ledger.allRecords() };
}
