import { join } from "node:path";
import { fileKey } from "../ledger/files.ts";

/** Where one session's chains stand, a folder each, named by the chain's ACS session id. */
export function auditFolder(dataFolder: string, sessionId: string): string {
  return join(dataFolder, "audit", fileKey(sessionId));
}
