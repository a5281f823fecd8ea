import { hasShape, isCount, isJson, isText } from "../ledger/shape.ts";
import type { Usage } from "./usage.ts";

/** Longest text that is kept of a line, in bytes. */
export const LONGEST_ID = 256;
/** Most tool calls that are kept of a line; the host writes a line for each. */
export const MOST_TOOL_USES = 256;

/** What a line says, as far as it has been read. Ids are cut to LONGEST_ID bytes. */
export type LineFacts = {
  type: string | null;
  uuid: string | null;
  agentId: string | null;
  apiError: boolean;
  messageId: string | null;
  model: string | null;
  /** it has a stop reason */
  final: boolean;
  usage: Usage;
  toolUses: string[];
};

export type LineScan = {
  facts: LineFacts;
  /** containers that were entered: r(oot), m(essage), u(sage), c(ontent), b(lock) */
  path: "" | "r" | "rm" | "rmu" | "rmc" | "rmcb";
  /** depth within a container that nothing is wanted from */
  skipped: number;
  /** what the next bytes belong to */
  inside: "" | "key" | "text" | "skipped text" | "literal";
  /** the next byte of a text is escaped */
  escaped: boolean;
  /** the bytes so far of a key, a wanted text or a literal, one character a byte */
  raw: string;
  /** the member whose value comes; null where a key comes */
  key: string | null;
  block: { type: string | null; id: string | null };
  /** open: within the line's object; closed: after it; over: the rest of the line does not matter */
  phase: "open" | "closed" | "over";
};

export function newLineScan(): LineScan {
  return {
    facts: {
      type: null,
      uuid: null,
      agentId: null,
      apiError: false,
      messageId: null,
      model: null,
      final: false,
      usage: { input: 0, cacheCreation: 0, cacheRead: 0, output: 0 },
      toolUses: [],
    },
    path: "",
    skipped: 0,
    inside: "",
    escaped: false,
    raw: "",
    key: null,
    block: { type: null, id: null },
    phase: "open",
  };
}

const isFlag = (value: unknown) => typeof value === "boolean";
const isShort = (value: unknown) => isText(value) && value.length <= LONGEST_ID;
const isShortOrNull = (value: unknown) => value === null || isShort(value);
const oneOf = (values: readonly string[]) => (value: unknown) => isText(value) && values.includes(value);

const USAGE: Record<keyof Usage, (value: unknown) => boolean> = {
  input: isCount,
  cacheCreation: isCount,
  cacheRead: isCount,
  output: isCount,
};
const FACTS: Record<keyof LineFacts, (value: unknown) => boolean> = {
  type: isShortOrNull,
  uuid: isShortOrNull,
  agentId: isShortOrNull,
  apiError: isFlag,
  messageId: isShortOrNull,
  model: isShortOrNull,
  final: isFlag,
  usage: (value) => hasShape(value, USAGE),
  toolUses: (value) => Array.isArray(value) && value.length <= MOST_TOOL_USES && value.every(isShort),
};
const SCAN: Record<keyof LineScan, (value: unknown) => boolean> = {
  facts: (value) => hasShape(value, FACTS),
  path: oneOf(["", "r", "rm", "rmu", "rmc", "rmcb"]),
  skipped: isCount,
  inside: oneOf(["", "key", "text", "skipped text", "literal"]),
  escaped: isFlag,
  raw: isShort,
  key: isShortOrNull,
  block: (value) => isJson(value) && isShortOrNull(value.type) && isShortOrNull(value.id),
  phase: oneOf(["open", "closed", "over"]),
};

export function isLineScan(value: unknown): value is LineScan {
  return hasShape(value, SCAN);
}
