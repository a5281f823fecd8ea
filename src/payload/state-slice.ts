import { wrappedSources, wrapUntrusted } from "./untrusted-content.ts";
import { isDeeperThan } from "./value-size.ts";

type Slice = Record<string, unknown>;

/** A path, a branch, an id, a number in words: too short of words to be an order, and no markup. */
const PLAIN = /^[A-Za-z0-9_./:@#+~%=,()[\]\\-]{0,200}$/;
/** Names of members may be in any script. */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N}_.$/:@#+-]{1,100}$/u;
/** As many levels as a payload may have; a deeper slice is refused anyway. */
const MAX_DEPTH = 100;

export type WrappedSlice = {
  slice: Slice;
  /** the labels of all envelopes in it */
  sources: string[];
};

/**
 * A state slice in which every text stands in an envelope; plain values such as paths and branches stay as they are.
 * An object with a member that is no plain name becomes text as a whole.
 */
export function wrapSlice(slice: Slice, source: string, timestamp: string): WrappedSlice {
  if (isDeeperThan(slice, MAX_DEPTH)) return { slice, sources: [] };
  const sources = new Set<string>();
  const wrapText = (text: string): string => {
    const wrapped = wrapUntrusted({ source, text }, timestamp);
    for (const label of wrappedSources(wrapped) ?? []) sources.add(label);
    return wrapped;
  };
  const wrap = (value: unknown): unknown => {
    if (typeof value === "string") return PLAIN.test(value) ? value : wrapText(value);
    if (Array.isArray(value)) return value.map(wrap);
    if (typeof value !== "object" || value === null) return value;
    if (!hasPlainNames(value)) return wrapText(JSON.stringify(value));
    return mapMembers(value, wrap);
  };
  const wrapped = hasPlainNames(slice) ? mapMembers(slice, wrap) : { state: wrapText(JSON.stringify(slice)) };
  return { slice: wrapped, sources: [...sources] };
}

/** Whether every text in a slice stands in an envelope. */
export function isWrapped(value: unknown): boolean {
  if (typeof value === "string") return PLAIN.test(value) || wrappedSources(value) !== null;
  if (typeof value !== "object" || value === null) return true;
  return (Array.isArray(value) || hasPlainNames(value)) && Object.values(value).every(isWrapped);
}

/** The texts in a slice, names left out; none of one that is deeper than a payload may be. */
export function textsIn(slice: unknown): string[] {
  return isDeeperThan(slice, MAX_DEPTH) ? [] : collectTexts(slice);
}

function collectTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(collectTexts) : [];
}

function hasPlainNames(value: object): boolean {
  return Object.keys(value).every((name) => PLAIN_NAME.test(name));
}

function mapMembers(value: object, map: (value: unknown) => unknown): Slice {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member)]));
}
