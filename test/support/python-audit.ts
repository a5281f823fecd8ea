import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

export const AUDIT_PROGRAMS = resolve("test/audit");

export const HAS_PYTHON = spawnSync("python3", ["--version"]).status === 0;

/** For the name of what needs Python. */
export const NEEDS_PYTHON = HAS_PYTHON ? "" : " (skipped: python3 is not on the PATH)";

export type Summary = {
  chains: number;
  lines: number;
  pending: { chain: string; file: string; line: number }[];
  signatures: { checked: number; unchecked: number; unsigned: number };
  steps: Record<string, number>;
  notices: { chain: string | null; what: string }[];
  problems: { chain: string | null; file: string | null; line: number | null; what: string }[];
};

/** Runs Python in the folder of the audit programs, where it leaves nothing behind. */
export function python(
  args: string[],
  input = "",
): { exitCode: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync("python3", ["-B", ...args], {
    cwd: AUDIT_PROGRAMS,
    input,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, PYTHONIOENCODING: "utf-8" },
  });
  return { exitCode: status, stdout, stderr };
}

/** What the second implementation says of a session's audit folder; throws where it could not look. */
export function recomputed(folder: string, keyFile?: string): Summary & { exitCode: number | null } {
  const key = keyFile === undefined ? [] : ["--key-file", keyFile];
  const { exitCode, stdout, stderr } = python(["recompute_chain.py", folder, ...key]);
  if (stderr !== "") throw new Error(stderr);
  return { exitCode, ...JSON.parse(stdout) };
}
