import { join } from "node:path";
import { auditFolder } from "../../src/acs/audit-folder.ts";
import { linesOf, segmentsOf } from "../../src/acs/chain-files.ts";
import type { Receipt } from "../../src/acs/envelope.ts";
import { rootSession } from "../../src/acs/session-id.ts";
import type { Signer } from "../../src/acs/signer.ts";
import { type SessionReport, verifySession } from "../../src/acs/verify-session.ts";
import { namesIn } from "../../src/ledger/files.ts";
import type { HookSession } from "./hook-session.ts";

/** The folder of a session's chains. */
export function chainsFolder({ data, sessionId }: HookSession): string {
  return auditFolder(data, sessionId);
}

/** The folder of one chain; the session's own unless said otherwise. */
export function chainFolder(session: HookSession, chain = rootSession(session.sessionId)): string {
  return join(chainsFolder(session), chain);
}

/** The receipts of one chain folder, as they stand in its files. */
export function receiptsIn(folder: string): Receipt[] {
  return segmentsOf(folder).flatMap(({ file }) =>
    [...linesOf(file)].map(({ bytes }): Receipt => JSON.parse(bytes.toString("utf8"))),
  );
}

/** The receipts of all chains of a session, by chain. */
export function chainsOf(session: HookSession): Map<string, Receipt[]> {
  const folder = chainsFolder(session);
  return new Map(namesIn(folder).map((name) => [name, receiptsIn(join(folder, name))]));
}

/** The receipts of the session's own chain. */
export function mainChain(session: HookSession): Receipt[] {
  return receiptsIn(chainFolder(session));
}

/** Steps without their prefix, such as `subagentStart`. */
export function stepsOf(receipts: readonly Receipt[]): string[] {
  return receipts.map(({ request }) => request.method.replace("steps/", ""));
}

export function verified(session: HookSession, signer: Signer | null = null): SessionReport {
  return verifySession(chainsFolder(session), session.sessionId, signer, session.ledger().spawns);
}
