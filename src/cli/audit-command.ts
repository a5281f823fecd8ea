import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { auditFolder } from "../acs/audit-folder.ts";
import { anyOf, keyFrom, Signer, type Verifier } from "../acs/signer.ts";
import { type SessionReport, verifySession } from "../acs/verify-session.ts";
import { bytesIfPresent, fileKey, idOfKey, namesIn } from "../ledger/files.ts";
import { Ledger } from "../ledger/ledger.ts";
import { newSession } from "../ledger/session-state.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import { AUDIT_KEY_VARIABLE } from "../policy/load-policy.ts";
import { dataFolder, defaultSession, type Environment, keyFileOf } from "./audit-place.ts";
import { exportLines, showRows, showTable } from "./audit-show.ts";
import { readCommandLine } from "./command-line.ts";
import type { CommandResult } from "./command-result.ts";

export type AuditIo = { environment: Environment; configFolder: string };

type Options = {
  session?: string;
  all?: true;
  data?: string;
  keyFile?: string[];
  format?: string;
  json?: true;
};

type Question = {
  data: string;
  sessions: string[];
  /** of the keys that were named, else of the key that a session was to sign with */
  verifierOf: (session: string) => Verifier | null;
  options: Options;
};

const ACTIONS = ["verify", "show", "export"];

/**
 * `spawn-guard audit verify | show | export`: checks, shows or hands out the receipts of one session or of all.
 * `verify` exits with 1 at the first broken entry of any chain, naming file and line.
 *
 * @param argv what follows `audit`
 */
export function runAudit(argv: readonly string[], io: AuditIo): CommandResult {
  const [action, ...rest] = argv;
  const command = new Command("spawn-guard audit")
    .description("Checks, shows or hands out the receipts of a session's spawns.")
    .usage("verify|show|export [options]")
    .option("--session <id>", "the session; by default this shell's, else the latest")
    .option("--all", "every session that has left receipts")
    .option("--data <dir>", "the plugin's data folder, where it is not found by itself")
    .option(
      "--key-file <file>",
      `a key that signed them, again for each that did; by default ${AUDIT_KEY_VARIABLE}, then audit_key_file`,
      (file: string, earlier: string[] = []) => [...earlier, file],
    )
    .option("--format <format>", "of export: jsonl")
    .option("--json", "print JSON");
  const known = action !== undefined && ACTIONS.includes(action);
  const line = readCommandLine(command, known ? rest : argv);
  if (line.kind === "help") return { exitCode: 0, stdout: line.text, stderr: "" };
  if (line.kind === "usage") return wrong(line.problem);
  if (!known) return wrong(`say what to do: ${ACTIONS.join(", ")}`);
  const options = command.opts<Options>();
  if (options.format !== undefined && (action !== "export" || options.format !== "jsonl")) {
    return wrong("--format is for export, and jsonl is the one there is");
  }
  if (options.all === true && options.session !== undefined) return wrong("use --session or --all, not both");
  const question = ask(options, io);
  if (typeof question === "string") return failed(question);
  if (action === "verify") return verify(question);
  const folders = question.sessions.map((session) => auditFolder(question.data, session));
  const empty = folders.find((folder) => !existsSync(folder));
  if (empty !== undefined && options.all !== true) {
    return failed(
      `${empty} is not there: the session has no receipts; name another with --session, or use --all`,
    );
  }
  const stdout = action === "show" ? shown(folders, options) : exportLines(folders);
  return { exitCode: 0, stdout, stderr: wholeness(question) };
}

/** What is asked about; a sentence when that cannot be told. */
function ask(options: Options, { environment, configFolder }: AuditIo): Question | string {
  const { folder: data, from } = dataFolder(options.data, configFolder, environment);
  const audit = join(data, "audit");
  const session = options.session ?? defaultSession(audit, environment);
  const sessions =
    options.all === true
      ? [...new Set([...sessionsIn(audit), ...sessionsIn(join(data, "sessions"))])].sort()
      : [session ?? ""];
  if (sessions.length === 0 || sessions[0] === "") {
    return `no session has left receipts in ${data} (${from}); name the plugin's data folder with --data`;
  }
  const named = keysOf(options, environment);
  if (typeof named === "string") return named;
  return { data, sessions, verifierOf: (of) => named ?? configuredKey(of, configFolder), options };
}

function sessionsIn(folder: string): string[] {
  return namesIn(folder).flatMap((name) => idOfKey(name) ?? []);
}

/** The keys that were named; null where there is none, a sentence where one cannot be used. */
function keysOf({ keyFile }: Options, environment: Environment): Verifier | string | null {
  const fromVariable = environment[AUDIT_KEY_VARIABLE] ?? "";
  if (keyFile === undefined && fromVariable === "") return null;
  const named = keyFile ?? [AUDIT_KEY_VARIABLE];
  const signers: Signer[] = [];
  for (const name of named) {
    const bytes = keyFile === undefined ? Buffer.from(fromVariable) : bytesIfPresent(name);
    if (bytes === null) return `${name} is no file that can be read; name the file with the key`;
    try {
      signers.push(new Signer(keyFrom(bytes)));
    } catch (error) {
      return `${name}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return anyOf(signers);
}

/** What cannot be read is no key: `verify` then says that signatures were not checked. */
function configuredKey(session: string, config: string): Verifier | null {
  const file = keyFileOf(session, config);
  try {
    const bytes = file === "" ? null : bytesIfPresent(file);
    return bytes === null ? null : new Signer(keyFrom(bytes));
  } catch {
    return null;
  }
}

function verify({ data, sessions, verifierOf, options }: Question): CommandResult {
  const reports = sessions.map((session) => ({ session, ...verifyOne(data, session, verifierOf(session)) }));
  const broken = reports.flatMap((report) => report.broken);
  const notices = reports.flatMap((report) => report.notices);
  const stderr = [
    ...broken.map(
      ({ file, line, problem }) => `broken: ${file}${line === 0 ? "" : `:${line}`}: ${problem}\n`,
    ),
    ...notices.map((notice) => `notice: ${notice}\n`),
  ].join("");
  const stdout =
    options.json === true
      ? `${JSON.stringify(reports, null, 2)}\n`
      : reports
          .map(({ session, chains, broken: found }) =>
            verdictLine(session, chains, found.length, verifierOf(session) !== null),
          )
          .join("");
  return { exitCode: broken.length > 0 ? 1 : 0, stdout, stderr };
}

function verifyOne(data: string, session: string, verifier: Verifier | null): SessionReport {
  const folder = auditFolder(data, session);
  if (!existsSync(folder)) {
    return {
      chains: [],
      broken: [{ file: folder, line: 0, problem: "the session has no receipts" }],
      notices: [],
    };
  }
  const report = verifySession(folder, session, verifier, recordsOf(data, session));
  const ledger = join(data, "sessions", fileKey(session));
  if (existsSync(ledger)) return report;
  const gone = `${ledger} is not there: nobody can tell whether each spawn has its receipts`;
  return { ...report, notices: [...report.notices, gone] };
}

function recordsOf(dataFolder: string, sessionId: string): SpawnRecord[] {
  const ledger = new Ledger({
    dataFolder,
    sessionId,
    deadline: 0,
    newSession: () => newSession("", 0, "*"),
  });
  return ledger.allRecords();
}

function verdictLine(
  session: string,
  chains: SessionReport["chains"],
  broken: number,
  hasKey: boolean,
): string {
  const entries = chains.reduce((sum, chain) => sum + chain.entries, 0);
  const signed = chains.reduce((sum, chain) => sum + chain.signed, 0);
  const word = broken === 0 ? "ok" : "BROKEN";
  const unchecked = signed > 0 && !hasKey ? ", signatures not checked (no key)" : "";
  return `${word}  session ${session}: ${chains.length} chains, ${entries} entries, ${signed} signed${unchecked}\n`;
}

function shown(folders: readonly string[], { json }: Options): string {
  const rows = showRows(folders);
  return json === true ? `${JSON.stringify(rows, null, 2)}\n` : showTable(rows);
}

/** Whoever reads receipts has to know when they are not all there, or not as they were written. */
function wholeness({ data, sessions, verifierOf }: Question): string {
  return sessions
    .filter((session) => verifyOne(data, session, verifierOf(session)).broken.length > 0)
    .map((session) => `broken: session ${session}; spawn-guard audit verify says where\n`)
    .join("");
}

function failed(problem: string): CommandResult {
  return { exitCode: 1, stdout: "", stderr: `spawn-guard audit: ${problem}\n` };
}

function wrong(problem: string): CommandResult {
  return { exitCode: 2, stdout: "", stderr: `spawn-guard audit: ${problem}\n` };
}
