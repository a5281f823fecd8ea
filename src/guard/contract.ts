import { type Meter, tokensUsed } from "../ledger/meter.ts";
import type { ContractRecord, SpawnRecord } from "../ledger/spawn-record.ts";
import { formatProblems } from "../payload/format-problems.ts";
import type { ReturnContract } from "../payload/return-contract.ts";
import type { FieldProblem } from "../payload/spawn-payload.ts";

/** The opening tag at a line's beginning, the closing one at a line's end. */
const TAG = /^[ \t]*<return_contract>|<(\/)return_contract>[ \t]*$/gm;
const FENCE = "```";
/** A subagent's own count this far from the measured one is said; below it is rounding. */
export const TOLERANCE = 0.25;

export type CheckContract = (
  value: unknown,
) => { ok: true; contract: ReturnContract } | { ok: false; problems: FieldProblem[] };

/**
 * The return contract in a last message: between `<return_contract>` tags (the last pair counts: a report may quote
 * the form), or the message's only JSON object (DESIGN "Payload"). `json` is what stands there, parsed. Models put
 * tags and JSON on one line, or a fence around the JSON: that is no reason to lose a report.
 */
export function findContract(message: string): { json: unknown } | { problem: string } | null {
  const tags = [...message.matchAll(TAG)];
  const closing = tags.findLastIndex((tag) => tag[1] === "/");
  const opening = tags[closing - 1];
  const close = tags[closing];
  if (opening !== undefined && close !== undefined && opening[1] === undefined) {
    return parse(message.slice(opening.index + opening[0].length, close.index));
  }
  if (tags.length > 0) return { problem: "its tags do not pair" };
  return onlyObject(message);
}

/** Judges what a subagent handed back against its spawn. */
export function judgeContract(spawn: SpawnRecord, message: string, check: CheckContract): ContractRecord {
  const asked = spawn.contract?.asked ?? false;
  const found = findContract(message);
  if (found === null)
    return { state: "missing", status: null, problem: "there is none in the last message", asked };
  const invalid = (problem: string): ContractRecord => ({ state: "invalid", status: null, problem, asked });
  if ("problem" in found) return invalid(found.problem);
  const checked = check(found.json);
  if (!checked.ok) return invalid(formatProblems(checked.problems));
  const { contract } = checked;
  if (contract.trace_id !== spawn.trace)
    return invalid(`trace_id is ${contract.trace_id}; this spawn is ${spawn.trace}`);
  return { state: "valid", status: contract.status, problem: discrepancy(contract, spawn.meter), asked };
}

/** What a subagent is asked for, once; its caller will see only the message that follows. */
export function askFor(contract: ContractRecord, trace: string, tooLong: string | null): string {
  const wrong =
    contract.state === "valid" ? null : `your return contract cannot be used: ${contract.problem}`;
  const why = [wrong, tooLong].filter((reason) => reason !== null).join("; ");
  const shorter = tooLong === null ? "" : ", shortened to fit";
  return `spawn-guard: ${why}. Repeat your full report${shorter}, then the contract: <return_contract>{"trace_id": "${trace}", "status": "…", "result": {"summary": "…"}}</return_contract>, the tags on lines of their own. Only this next message reaches your caller. Call no more tools.`;
}

function parse(text: string): { json: unknown } | { problem: string } {
  try {
    return { json: JSON.parse(unfenced(text.trim())) };
  } catch {
    return { problem: "what stands between its tags is not JSON" };
  }
}

function unfenced(text: string): string {
  const isFenced = text.startsWith(FENCE) && text.endsWith(FENCE) && text.includes("\n");
  return isFenced ? text.slice(text.indexOf("\n"), -FENCE.length) : text;
}

function onlyObject(message: string): { json: unknown } | null {
  const start = message.indexOf("{");
  const end = message.lastIndexOf("}");
  if (start < 0 || end < start) return null;
  try {
    return { json: JSON.parse(message.slice(start, end + 1)) };
  } catch {
    // Braces in prose or code, or several objects: no contract.
    return null;
  }
}

function discrepancy({ tokens_used: said, tool_calls: calls }: ReturnContract, meter: Meter): string | null {
  const { input, output } = tokensUsed(meter, true);
  const differing = [
    differs("input tokens", said?.input, input),
    differs("output tokens", said?.output, output),
    differs("tool calls", calls, meter.toolCalls),
  ].filter((part) => part !== null);
  return differing.length === 0 ? null : differing.join(", ");
}

function differs(what: string, said: number | undefined, measured: number): string | null {
  if (said === undefined || Math.abs(said - measured) <= TOLERANCE * Math.max(measured, 1)) return null;
  return `says ${said} ${what}, measured ${measured}`;
}
