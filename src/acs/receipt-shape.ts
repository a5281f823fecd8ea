import { isUtf8 } from "node:buffer";
import { hasShape, isJson, isText, isTextOrNull, type Json } from "../ledger/shape.ts";
import type { Receipt } from "./envelope.ts";
import { canonical } from "./seal.ts";

/** A line as the receipt that it holds, or what is wrong with it. */
export function parseReceipt(bytes: Buffer): Receipt | string {
  let value: unknown;
  const text = bytes.toString("utf8");
  try {
    value = JSON.parse(text);
    // Bytes that are no text would be read as U+FFFD, which other bytes are too.
    if (!isUtf8(bytes) || canonical(value) !== text) return "the line is not in canonical form";
  } catch {
    return "the line is no JSON";
  }
  return isReceipt(value) ? value : "the line is no receipt";
}

const MEMBERS = "entry,line_hash,request,response";

/** The hash of a line covers these members, so it has no others. */
function isReceipt(value: unknown): value is Receipt {
  return (
    isJson(value) &&
    Object.keys(value).sort().join() === MEMBERS &&
    hasShape(value, {
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
    })
  );
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

const SIGNATURE: Record<string, (value: unknown) => boolean> = {
  algorithm: (value) => value === "HMAC-SHA256",
  value: isText,
  key_id: isText,
};

function isUnsignedOrSigned(value: unknown): boolean {
  const { signature }: Json = isJson(value) ? value : {};
  return signature === undefined || hasShape(signature, SIGNATURE);
}
