import { validate as isUuid } from "uuid";
import { hasShape, isJson, isText, isTextOrNull, type Json } from "../ledger/shape.ts";
import { headCell } from "./chain.ts";
import { linesOf, segmentName, segmentsOf } from "./chain-files.ts";
import type { Receipt } from "./envelope.ts";
import { canonical, entryHash, lineHash, requestHash } from "./seal.ts";
import { type Signer, signatureOf } from "./signer.ts";

/** Where a chain is broken. `line` is 1-based; 0 speaks of the file as a whole. */
export type Break = { file: string; line: number; problem: string };

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
export type Visitor = (receipt: Receipt, place: { file: string; line: number }) => void;

/**
 * Recomputes one chain: every hash, link and signature, that lines are in canonical form, that no segment is missing
 * and that the chain is as long as its head says. `signer` is null where no key is known: signatures are then only
 * counted. Stops at the first broken entry.
 */
export function verifyChain(
  folder: string,
  session: string,
  signer: Signer | null,
  visit: Visitor,
): ChainReport {
  const report: ChainReport = { session, entries: 0, signed: 0, broken: null, notices: [] };
  const segments = segmentsOf(folder);
  const head = headCell(folder).read();
  const seen = new Set<string>();
  let entry: string | null = null;
  let line: string | null = null;
  let atHead: string | null = null;
  let last = { file: folder, line: 0 };
  const broken = (place: { file: string; line: number }, problem: string): ChainReport => ({
    ...report,
    broken: { ...place, problem },
  });
  for (const [index, { file, segment }] of segments.entries()) {
    if (segment !== index + 1)
      return broken({ file: folder, line: 0 }, `${segmentName(index + 1)} is missing`);
    for (const { text, number, complete } of linesOf(file)) {
      const place = { file, line: number };
      if (!complete) return broken(place, "the line has no end: it was torn or cut");
      const receipt = parse(text);
      if (typeof receipt === "string") return broken(place, receipt);
      const problem = wrong(receipt, { session, entry, line, first: report.entries === 0, seen }, signer);
      if (problem !== null) return broken(place, problem);
      visit(receipt, place);
      seen.add(receipt.entry.entry_id);
      report.entries += 1;
      if (signatureOf(receipt.request) !== undefined) report.signed += 1;
      entry = receipt.entry.entry_hash;
      line = receipt.line_hash;
      last = place;
      if (report.entries === head.value?.count) atHead = line;
    }
  }
  if (head.value === null || head.lost) {
    return broken(
      { file: folder, line: 0 },
      "the head is missing or damaged: nobody can tell whether the tail is whole",
    );
  }
  const { count } = head.value;
  if (report.entries < count) {
    return broken(
      last,
      `the head counts ${count} entries, the files hold ${report.entries}: the tail is lost`,
    );
  }
  if (atHead !== head.value.line) return broken(last, `entry ${count} is not the one that the head names`);
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
  seen: ReadonlySet<string>;
};

/** What is wrong with a receipt that follows `before`, or null. */
function wrong(receipt: Receipt, before: Before, signer: Signer | null): string | null {
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
  if (before.seen.has(id)) return `step ${id} stands in the chain twice`;
  if (entry.step_type !== request.method) return "step_type is not the request's method";
  if (metadata.session_id !== before.session) return `the request belongs to session ${metadata.session_id}`;
  if (before.first !== (request.method === "steps/sessionStart"))
    return "a chain begins with sessionStart, once";
  if (signer === null) return null;
  if (!signer.verifies(request, metadata.session_id)) return "the request is not signed with this key";
  if (!signer.verifies(response, metadata.session_id)) return "the response is not signed with this key";
  return null;
}

function parse(text: string): Receipt | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (canonical(value) !== text) return "the line is not in canonical form";
  } catch {
    return "the line is no JSON";
  }
  return isReceipt(value) ? value : "the line is no receipt";
}

const SIGNATURE: Record<string, (value: unknown) => boolean> = {
  algorithm: (value) => value === "HMAC-SHA256",
  value: isText,
  key_id: isText,
};

function isReceipt(value: unknown): value is Receipt {
  return hasShape(value, {
    line_hash: isText,
    request: (request) => hasShape(request, { method: isText, id: isText, params: isParams }),
    entry: (entry) =>
      hasShape(entry, {
        entry_id: isText,
        step_id: isText,
        step_type: isText,
        timestamp: isText,
        request_hash: isText,
        entry_hash: isText,
        previous_hash: isTextOrNull,
      }),
    response: (response) => hasShape(response, { id: isText, result: isResult }),
  });
}

function isParams(params: unknown): boolean {
  return (
    hasShape(params, {
      request_id: isText,
      timestamp: isText,
      payload: isJson,
      metadata: (metadata) => hasShape(metadata, { agent_id: isText, session_id: isText }),
    }) && isUnsignedOrSigned(params)
  );
}

function isResult(result: unknown): boolean {
  return (
    hasShape(result, {
      request_id: isText,
      decision: isText,
      chain_hash: isText,
      reason_codes: Array.isArray,
    }) && isUnsignedOrSigned(result)
  );
}

function isUnsignedOrSigned(value: unknown): boolean {
  const { signature }: Json = isJson(value) ? value : {};
  return signature === undefined || hasShape(signature, SIGNATURE);
}
