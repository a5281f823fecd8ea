import { lstatSync } from "node:fs";
import { join } from "node:path";
import { validate as isUuid } from "uuid";
import { namesIn } from "../ledger/files.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import type { Receipt } from "./envelope.ts";
import { childSession, rootSession } from "./session-id.ts";
import type { Verifier } from "./signer.ts";
import { type Break, type ChainReport, verifyChain } from "./verify-chain.ts";

export type SessionReport = {
  chains: ChainReport[];
  /** the first thing that is broken in each chain, and between them */
  broken: Break[];
  /** what is missing without anything being broken */
  notices: string[];
};

type Link = { receipt: Receipt; file: string; line: number };

/**
 * Verifies all chains of a session, that they fit together, and that the ledger's spawns have their receipts. `folder`
 * holds a folder for each chain. A missing receipt is a notice: a hook that is killed between a decision and its receipt
 * leaves one.
 */
export function verifySession(
  folder: string,
  hostSession: string,
  verifier: Verifier | null,
  records: readonly SpawnRecord[],
): SessionReport {
  const root = rootSession(hostSession);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    const problem = "is a symbolic link, and an audit chain follows none";
    return { chains: [], broken: [{ file: folder, line: 0, problem }], notices: [] };
  }
  const names = namesIn(folder).filter(isUuid);
  const links: Link[] = [];
  const chains = [root, ...names.filter((name) => name !== root).sort()].map((session) => {
    const chain = join(folder, session);
    return verifyChain(chain, session, verifier, (receipt, place) => links.push({ receipt, ...place }));
  });
  const broken = chains.flatMap((chain) => (chain.broken === null ? [] : [chain.broken]));
  if (broken.length === 0 && chains[0]?.entries === 0) {
    broken.push({ file: join(folder, root), line: 0, problem: "the session has no receipts" });
  }
  const notices = chains.flatMap((chain) => chain.notices);
  // What follows a break proves nothing, so what is missing there says nothing.
  if (broken.length > 0) return { chains, broken, notices };
  return {
    chains,
    broken: betweenChains(folder, root, names, links, records),
    notices: [...notices, ...missing(root, links, records)],
  };
}

/** Each child's chain is named by its parent's subagentStart, and its end by the parent's subagentStop. */
function betweenChains(
  folder: string,
  root: string,
  names: readonly string[],
  links: readonly Link[],
  records: readonly SpawnRecord[],
): Break[] {
  const steps = new Map(links.map(({ receipt }) => [receipt.request.id, receipt]));
  const ends = new Map<string, Set<string>>();
  const opened = new Set<string>();
  // Where the ledger knows of a spawn, its missing start is `missing`'s to name.
  const started = new Set([root, ...records.map((spawn) => childSession(root, spawn))]);
  for (const { receipt } of links) {
    const { method, params } = receipt.request;
    const { session_id: session } = params.metadata;
    opened.add(session);
    if (method === "steps/sessionEnd") {
      ends.set(session, (ends.get(session) ?? new Set()).add(receipt.entry.entry_hash));
    }
    if (method === "steps/subagentStart") started.add(String(params.payload.subagent_session_id));
  }
  const breaks: Break[] = [];
  for (const { receipt, file, line } of links) {
    const { method, params } = receipt.request;
    const child = String(params.payload.subagent_session_id);
    if (method === "steps/subagentStart") {
      const parent = steps.get(String(params.payload.parent_step_id));
      // One that is nowhere was not recorded: a gap, or a killed hook.
      if (parent !== undefined && parent.request.params.metadata.session_id !== params.metadata.session_id) {
        breaks.push({ file, line, problem: "its parent_step_id is a step of another chain" });
      }
    }
    const { final_chain_hash: final } = params.payload;
    if (method !== "steps/subagentStop" || final === undefined) continue;
    if (!names.includes(child)) {
      breaks.push({
        file: join(folder, child),
        line: 0,
        problem: `the chain is missing that ${file}:${line} links to`,
      });
    } else if (ends.get(child)?.has(String(final)) !== true) {
      breaks.push({ file, line, problem: `final_chain_hash is no sessionEnd of ${child}` });
    }
  }
  for (const name of names) {
    if (started.has(name) || !opened.has(name)) continue;
    breaks.push({
      file: join(folder, name),
      line: 0,
      problem: "no subagentStart of this session names the chain, and the ledger knows no spawn of it",
    });
  }
  return breaks;
}

function missing(root: string, links: readonly Link[], records: readonly SpawnRecord[]): string[] {
  const started = new Set<string>();
  const stopped = new Map<string, number>();
  const opened = new Set(links.map(({ receipt }) => receipt.request.params.metadata.session_id));
  const parents = new Set<string>();
  const steps = new Set(links.map(({ receipt }) => receipt.request.id));
  for (const { receipt } of links) {
    const { method, params } = receipt.request;
    const child = String(params.payload.subagent_session_id);
    if (method === "steps/subagentStart") {
      started.add(child);
      parents.add(String(params.payload.parent_step_id));
    }
    if (method === "steps/subagentStop") stopped.set(child, (stopped.get(child) ?? 0) + 1);
  }
  const notices = records.flatMap((spawn) => {
    const session = childSession(root, spawn);
    const { trace, phase, agent } = spawn;
    if (!started.has(session)) return [`${trace} has no subagentStart: its decision was not recorded`];
    if (phase === "ended" && !stopped.has(session)) return [`${trace} has ended and has no subagentStop`];
    if (phase !== "reserved" && agent !== null && !opened.has(session))
      return [`${trace} ran and has no chain of its own`];
    return [];
  });
  for (const { receipt, file, line } of links) {
    const { method, id, params } = receipt.request;
    const tool = params.payload.tool;
    const name = typeof tool === "object" && tool !== null && "name" in tool ? tool.name : null;
    const spawns = name === "Agent" || name === "Task";
    if (method === "steps/toolCallRequest" && spawns && !parents.has(id)) {
      notices.push(`${file}:${line}: the Agent call has no subagentStart after it`);
    }
    if (method === "steps/subagentStart" && !steps.has(String(params.payload.parent_step_id))) {
      notices.push(`${file}:${line}: the step that it comes from was not recorded`);
    }
  }
  return notices;
}
