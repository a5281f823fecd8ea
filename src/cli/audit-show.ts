import { lstatSync } from "node:fs";
import { join } from "node:path";
import { linesOf, segmentsOf } from "../acs/chain-files.ts";
import { namesIn } from "../ledger/files.ts";
import { isJson, type Json } from "../ledger/shape.ts";

/** One receipt for a reader. */
export type ShownReceipt = {
  at: string;
  agent: string;
  step: string;
  decision: string;
  /** what the step is about: the child, its intent's derivation, the outcome, the tool */
  about: string;
  codes: string[];
  chain: string;
};

/** The receipts of whole sessions by time; what cannot be read is verify's to name. */
export function showRows(folders: readonly string[]): ShownReceipt[] {
  const rows = folders.flatMap((folder) =>
    receiptsIn(folder).map(({ receipt, chain }) => rowOf(receipt, chain)),
  );
  return rows.sort((a, b) => a.at.localeCompare(b.at));
}

export function showTable(rows: readonly ShownReceipt[]): string {
  const cells = rows.map(({ at, agent, step, decision, about, codes }) => [
    at,
    agent,
    step.replace("steps/", ""),
    decision,
    [about, ...codes].filter((part) => part !== "").join(" · "),
  ]);
  const all = [["time", "agent", "step", "decision", "about"], ...cells];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length))) ?? [];
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** Every line of every chain as it stands on disk, chain by chain. */
export function exportLines(folders: readonly string[]): string {
  return folders
    .flatMap((folder) => chainsIn(folder))
    .flatMap(({ folder }) => segmentsOf(folder).flatMap(({ file }) => [...linesOf(file)]))
    .map(({ bytes }) => `${bytes.toString("utf8")}\n`)
    .join("");
}

function receiptsIn(folder: string): { receipt: Json; chain: string }[] {
  return chainsIn(folder).flatMap(({ folder: chain, name }) =>
    segmentsOf(chain).flatMap(({ file }) =>
      [...linesOf(file)].flatMap(({ bytes }) => {
        const receipt = parse(bytes.toString("utf8"));
        return receipt === null ? [] : [{ receipt, chain: name }];
      }),
    ),
  );
}

function chainsIn(folder: string): { folder: string; name: string }[] {
  return namesIn(folder)
    .sort()
    .map((name) => ({ folder: join(folder, name), name }))
    .filter((chain) => lstatSync(chain.folder, { throwIfNoEntry: false })?.isDirectory() === true);
}

function rowOf({ request, response }: Json, chain: string): ShownReceipt {
  const params = member(request, "params");
  const payload = member(params, "payload");
  const result = member(response, "result");
  const codes = Array.isArray(result.reason_codes) ? result.reason_codes.map(String) : [];
  return {
    at: text(params.timestamp),
    agent: text(member(params, "metadata").agent_id),
    step: text(isJson(request) ? request.method : ""),
    decision: text(result.decision),
    about: aboutOf(payload, member(member(result, "policy_data"), "spawn_guard")),
    codes,
    chain,
  };
}

function aboutOf(payload: Json, facts: Json): string {
  const parts = [
    member(payload, "tool").name,
    member(payload, "subagent_descriptor").agent_name,
    facts.trace_id ?? member(payload, "summary").trace_id,
    payload.intent_derivation,
    payload.outcome,
    payload.reason,
  ];
  return parts
    .map(text)
    .filter((part) => part !== "")
    .join(" ");
}

function member(value: unknown, name: string): Json {
  const found = isJson(value) ? value[name] : undefined;
  return isJson(found) ? found : {};
}

/** On one line, whatever a model named it. */
function text(value: unknown): string {
  return typeof value === "string" ? value.replace(/\p{C}/gu, "�") : "";
}

function parse(line: string): Json | null {
  try {
    const value: unknown = JSON.parse(line);
    return isJson(value) ? value : null;
  } catch {
    return null;
  }
}
