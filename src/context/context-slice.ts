import type { UntrustedInput } from "../payload/spawn-payload.ts";
import type { Role } from "../roles/role.ts";
import { choosePieces } from "./choose-pieces.ts";
import { BYTES_A_TOKEN, cutIntoPieces } from "./pieces.ts";
import { roleWords } from "./role-words.ts";
import { envelope, linesOf, sliceCosts, sliceText } from "./slice-text.ts";
import type { Source } from "./sources.ts";

/** What of a project's texts matters to a role, ready for a payload's state_slice. */
export type ContextSlice = {
  role: string;
  /** `context` holds one envelope a source; empty where there is none */
  state_slice: { related_artefacts?: string[]; context?: string[] };
  untrusted_inputs: UntrustedInput[];
  sources: {
    source: string;
    file: string;
    /** 1-based, both included */
    lines: [number, number][];
    /** whether anything in it has to do with the role's words; else its beginning stands for it */
    matters: boolean;
  }[];
  /** of the Markdown that renderContext makes of it, bytes / 4: an estimate; 0 where there is no source */
  tokens_estimate: number;
  max_tokens: number;
  notes: string[];
};

/** A note names so many files at most. */
const MOST_NAMED = 10;

/**
 * Chooses what matters to a role and puts it into envelopes.
 *
 * @param maxTokens as tokens_estimate counts them
 * @param timestamp when the sources were read, ISO 8601
 */
export function contextSlice(
  role: Role,
  sources: readonly Source[],
  maxTokens: number,
  timestamp: string,
  notes: readonly string[],
): ContextSlice {
  const cut = sources.map((source) => ({ ...source, pieces: cutIntoPieces(source.text) }));
  const room = maxTokens * BYTES_A_TOKEN - Buffer.byteLength(sliceText(role.name, maxTokens, [], []));
  const choice = choosePieces(cut, roleWords(role), room, sliceCosts(role.name, timestamp));
  const context = choice.sources.map((source) => envelope(source, timestamp));
  const listed = choice.sources.map(({ label, file, pieces, matters }) => {
    return { source: label, file, lines: linesOf(pieces), matters };
  });
  return {
    role: role.name,
    state_slice:
      context.length === 0 ? {} : { related_artefacts: choice.sources.map(({ file }) => file), context },
    untrusted_inputs: choice.sources.map(({ label }) => ({ source: label, wrapped: true })),
    sources: listed,
    tokens_estimate:
      context.length === 0 ? 0 : countTokens((own) => sliceText(role.name, own, context, listed)),
    max_tokens: maxTokens,
    notes: [
      ...notes,
      ...cut.filter(({ pieces }) => pieces.length === 0).map(({ file }) => `${file} is empty`),
      ...leftOut(choice.leftOut, `${maxTokens} tokens hold no snippet of`),
      ...leftOut(choice.unrelated, `nothing that ${role.name} works on stands in`),
    ],
  };
}

/** The slice as Markdown: its envelopes, then where each comes from. */
export function renderContext({ role, state_slice, sources, tokens_estimate }: ContextSlice): string {
  return sliceText(role, tokens_estimate, state_slice.context ?? [], sources);
}

/** Of a text that names its own count: a longer number makes it longer. */
function countTokens(text: (tokens: number) => string): number {
  for (let tokens = 0; ; ) {
    const counted = Math.ceil(Buffer.byteLength(text(tokens)) / BYTES_A_TOKEN);
    if (counted <= tokens) return tokens;
    tokens = counted;
  }
}

function leftOut(files: readonly string[], why: string): string[] {
  const [first, ...others] = files;
  if (first === undefined) return [];
  if (others.length === 0) return [`${first} is left out: ${why} it`];
  const more = files.length - MOST_NAMED;
  const named = files.slice(0, MOST_NAMED).join(", ");
  return [`${named}${more > 0 ? ` and ${more} more` : ""} are left out: ${why} them`];
}
