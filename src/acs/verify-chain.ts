import { join } from "node:path";
import { validate as isUuid } from "uuid";
import type { Reading } from "../ledger/cell.ts";
import { refuseLinks } from "./chain-files.ts";
import { type Head, headCell } from "./chain-head.ts";
import { linesOfChain, type Place } from "./chain-lines.ts";
import type { Receipt } from "./envelope.ts";
import { parseReceipt } from "./receipt-shape.ts";
import { entryHash, lineHash, requestHash } from "./seal.ts";
import { signatureOf, type Verifier } from "./signer.ts";

/** Where a chain is broken. */
export type Break = Place & { problem: string };

export type ChainReport = {
  /** the chain's ACS session id */
  session: string;
  entries: number;
  signed: number;
  /** the first broken entry; what follows it proves nothing */
  broken: Break | null;
  notices: string[];
};

/** Is told of each sound receipt, in order. */
export type Visitor = (receipt: Receipt, place: Place) => void;

/** How often a chain is read again that hooks append to meanwhile. */
const MAX_PASSES = 5;

/**
 * Recomputes one chain: every hash, link and signature, that lines are in canonical form, that no segment is missing
 * and that the chain is as long as its head says. `verifier` is null where no key is known: signatures are then only
 * counted. Stops at the first broken entry. Lines that only the head holds yet are verified like the others.
 */
export function verifyChain(
  folder: string,
  session: string,
  verifier: Verifier | null,
  visit: Visitor,
): ChainReport {
  for (let pass = 1; ; pass += 1) {
    const head = headCell(folder).read();
    const found: { receipt: Receipt; place: Place }[] = [];
    const report = verifyPass({ folder, session, verifier, head }, (receipt, place) =>
      found.push({ receipt, place }),
    );
    const isWhole = report.broken === null && report.notices.length === 0;
    if (isWhole || pass === MAX_PASSES || headCell(folder).read().value?.count === head.value?.count) {
      for (const { receipt, place } of found) visit(receipt, place);
      return report;
    }
  }
}

type Question = { folder: string; session: string; verifier: Verifier | null; head: Reading<Head> };

function verifyPass({ folder, session, verifier, head }: Question, visit: Visitor): ChainReport {
  const report: ChainReport = { session, entries: 0, signed: 0, broken: null, notices: [] };
  const before: Before = { session, entry: null, line: null, first: true };
  const seen = new Set<string>();
  let last: Place = { file: folder, line: 0 };
  let atHead: string | null = null;
  const broken = (place: Place, problem: string): ChainReport => ({
    ...report,
    broken: { ...place, problem },
  });
  try {
    refuseLinks(folder, join(folder, "head"));
    for (const line of linesOfChain(folder, head.value, report.notices)) {
      last = line.place;
      if (line.problem !== null) return broken(last, line.problem);
      const receipt = parseReceipt(line.bytes);
      if (typeof receipt === "string") return broken(last, receipt);
      const problem = wrong(receipt, before, verifier);
      if (problem !== null) return broken(last, problem);
      visit(receipt, last);
      const { entry, line_hash } = receipt;
      if (seen.has(entry.entry_id)) {
        report.notices.push(
          `${last.file}:${last.line}: step ${entry.entry_id} is recorded again: its event came twice, long apart`,
        );
      }
      seen.add(entry.entry_id);
      Object.assign(before, { entry: entry.entry_hash, line: line_hash, first: false });
      report.entries += 1;
      if (signatureOf(receipt.request) !== undefined) report.signed += 1;
      if (report.entries === head.value?.count) atHead = line_hash;
    }
  } catch (error) {
    return broken({ file: folder, line: 0 }, error instanceof Error ? error.message : String(error));
  }
  const { value: end, lost } = head;
  if ((end === null || lost) && (lost || report.entries > 0)) {
    const problem = "the head is missing or damaged: nobody can tell whether the tail is whole";
    return broken({ file: folder, line: 0 }, problem);
  }
  const count = end?.count ?? 0;
  if (report.entries < count) {
    const found = `the head counts ${count} entries, the files hold ${report.entries}`;
    return broken(last, `${found}: the tail is lost`);
  }
  if (atHead !== (end?.line ?? null))
    return broken(last, `entry ${count} is not the one that the head names`);
  if (report.entries === 0) report.notices.push(`${folder} holds no receipt yet`);
  if (report.entries > count) {
    report.notices.push(
      `${folder}: ${report.entries - count} entries are newer than the head, as after a power cut`,
    );
  }
  return report;
}

type Before = {
  session: string;
  entry: string | null;
  line: string | null;
  first: boolean;
};

/** What is wrong with a receipt that follows `before`, or null. */
function wrong(receipt: Receipt, before: Before, verifier: Verifier | null): string | null {
  const { request, entry, response } = receipt;
  const { request_id: id, metadata } = request.params;
  if (lineHash(receipt, before.line) !== receipt.line_hash)
    return "line_hash does not fit the line and the one before";
  if (entry.previous_hash !== before.entry) return "previous_hash is not the hash of the entry before";
  if (requestHash(request) !== entry.request_hash) return "request_hash does not fit the request";
  if (entryHash(entry) !== entry.entry_hash) return "entry_hash does not fit the entry";
  if (response.result.chain_hash !== entry.entry_hash) return "the response's chain_hash is another entry's";
  const ids = [request.id, entry.entry_id, entry.step_id, response.id, response.result.request_id];
  if (!isUuid(id) || ids.some((other) => other !== id))
    return "the ids of request, entry and response differ";
  if (entry.step_type !== request.method) return "step_type is not the request's method";
  if (metadata.session_id !== before.session) return `the request belongs to session ${metadata.session_id}`;
  if (before.first !== (request.method === "steps/sessionStart"))
    return "a chain begins with sessionStart, once";
  if (verifier === null) return null;
  if (!verifier.verifies(request, metadata.session_id))
    return "the request is not signed with a key that was given";
  if (!verifier.verifies(response, metadata.session_id))
    return "the response is not signed with a key that was given";
  return null;
}
