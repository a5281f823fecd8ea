import { showValue } from "../payload/show-value.ts";
import { stateLabel } from "../payload/source-label.ts";
import { textsIn } from "../payload/state-slice.ts";
import { type UntrustedText, wrappedSources } from "../payload/untrusted-content.ts";
import type { BuildArguments, TextSource } from "./build-arguments.ts";
import { decodeText } from "./decode-text.ts";

export type SourceIo = {
  /** all of standard input; null where there is none */
  readStdin: (() => Uint8Array) | null;
  /** a file's bytes, or throws; null where the arguments are not the person's own and must read no files */
  readFile: ((path: string) => Uint8Array) | null;
};

export type ReadSources =
  | {
      ok: true;
      state: { slice: Record<string, unknown>; source: string } | undefined;
      untrusted: UntrustedText[];
      warnings: string[];
    }
  | { ok: false; problem: string };

class Unreadable extends Error {}

/** Reads the state slice and the foreign texts that the arguments name. */
export function readSources(given: BuildArguments, io: SourceIo): ReadSources {
  const warnings: string[] = [];
  const read = (source: TextSource, option: string): string => {
    const { text, replaced } = readText(source, option, io);
    if (replaced) warnings.push(`${option} has bytes that are no UTF-8; each stands as U+FFFD in the prompt`);
    return text;
  };
  try {
    const untrusted = given.untrusted.map(({ label, text: source }) => {
      const text = read(source, `--untrusted ${label}`);
      if (text.trim() === "")
        warnings.push(`--untrusted ${label} has no text; check what was meant to be in it`);
      return { source: label, text };
    });
    return { ok: true, state: readState(given, read), untrusted, warnings };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.message };
    throw error;
  }
}

type Read = (source: TextSource, option: string) => string;

function readState({ state }: BuildArguments, read: Read) {
  if (state === undefined) return undefined;
  if (state.from === "arguments")
    return { slice: sliceOf(state.slice, "state"), source: stateLabel("arguments") };
  const [option, name] =
    state.from === "stdin" ? ["--state -", "stdin"] : [`--state ${state.path}`, state.path];
  return { slice: sliceOf(parseState(read(state, option), option), option), source: stateLabel(name) };
}

/** What `spawn-guard context --json` prints holds the slice and says what is in it, which is not taken on trust. */
function sliceOf(state: Record<string, unknown>, option: string): Record<string, unknown> {
  const { state_slice: slice, untrusted_inputs: listed } = state;
  if (!isObject(slice) || !Array.isArray(listed)) return state;
  const there = new Set(textsIn(slice).flatMap((text) => wrappedSources(text) ?? []));
  for (const entry of listed) {
    const source: unknown = isObject(entry) ? entry.source : entry;
    if (typeof source !== "string" || !there.has(source))
      throw new Unreadable(
        `${option} lists ${showValue(source)} as untrusted, and no envelope in its state_slice names it; take what spawn-guard context --json prints as it is`,
      );
  }
  return slice;
}

function parseState(text: string, option: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Unreadable(`${option} is not JSON (${why}); write one object`);
  }
  if (!isObject(value)) throw new Unreadable(`${option} is ${showValue(value)}; it has to be an object`);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readText(source: TextSource, option: string, io: SourceIo): { text: string; replaced: boolean } {
  switch (source.from) {
    case "arguments":
      return { text: source.text, replaced: false };
    case "stdin":
      if (io.readStdin === null)
        throw new Unreadable(`${option} needs standard input, which is not there; name a file instead`);
      return decodeText(io.readStdin());
    case "file":
      if (io.readFile === null)
        throw new Unreadable(
          `${option} would read a file for arguments that a model may have written; call \`spawn-guard build\` with the Bash tool instead`,
        );
      try {
        return decodeText(io.readFile(source.path));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new Unreadable(`${option} cannot be read: ${why}`);
      }
  }
}
