import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from "yaml";
import { explainYamlError } from "./yaml-error.ts";

/** A frontmatter value as the file says it; `written` is its own text, for messages. */
export type FrontmatterValue =
  | { kind: "scalar"; value: string | number | boolean | null; written: string }
  | { kind: "list"; items: FrontmatterField[] }
  | { kind: "map" };

/** `line` is 1-based in the file. */
export type FrontmatterField = { line: number; value: FrontmatterValue };

/** The top-level keys. A Map, so that a key such as `__proto__` is a key like any other (case 95). */
export type FrontmatterFields = Map<string, FrontmatterField>;

/** Thrown inside the parser, turned into a problem at its edge. */
export class FrontmatterError extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Reads YAML 1.2 (core schema) into its top-level fields. Duplicate keys, tags, aliases and merge keys are
 * errors: each of them can make a file say more than a reader sees (cases 94 to 97).
 *
 * @throws FrontmatterError for the first thing that is wrong
 */
export function readYamlFields(source: string): FrontmatterFields {
  const lineCounter = new LineCounter();
  const document = parseDocument(source, {
    version: "1.2",
    schema: "core",
    strict: true,
    uniqueKeys: true,
    merge: false,
    prettyErrors: false,
    // "silent" would drop the error for a second document, and with it every key that stands there
    logLevel: "error",
    lineCounter,
  });
  const lineAt = (offset: number | undefined) =>
    offset === undefined ? 1 : lineCounter.linePos(offset).line;

  const error = document.errors[0];
  if (error !== undefined) {
    const explained = explainYamlError(error, source.split("\n"), lineAt(error.pos[0]));
    throw new FrontmatterError(explained.line, explained.message);
  }
  visit(document, {
    Node: (_key, node) => {
      const line = lineAt(node.range?.[0]);
      if (isAlias(node)) {
        throw new FrontmatterError(line, `alias *${node.source} is not read; write the value out`);
      }
      if (node.tag !== undefined) {
        throw new FrontmatterError(line, `tag ${node.tag} is not read; write the plain value`);
      }
    },
  });

  const root = document.contents;
  if (root === null) return new Map();
  if (!isMap(root)) {
    throw new FrontmatterError(
      lineAt(root.range[0]),
      "frontmatter is not `key: value` lines; begin with `name: …`",
    );
  }
  const fields: FrontmatterFields = new Map();
  for (const { key, value } of root.items) {
    if (!isScalar(key) || typeof key.value !== "string") continue;
    const line = lineAt(key.range?.[0]);
    if (key.value === "<<") {
      throw new FrontmatterError(line, "merge key `<<` is not read; write its keys out");
    }
    fields.set(key.value, { line, value: readValue(value, lineAt) });
  }
  return fields;
}

function readValue(node: Node | null, lineAt: (offset: number | undefined) => number): FrontmatterValue {
  if (node === null) return { kind: "scalar", value: null, written: "" };
  if (isMap(node)) return { kind: "map" };
  if (isSeq<Node | null>(node)) {
    const items = node.items.map((item) => ({
      line: lineAt(item?.range?.[0] ?? node.range?.[0]),
      value: readValue(item, lineAt),
    }));
    return { kind: "list", items };
  }
  if (!isScalar(node)) return { kind: "map" };
  const { value } = node;
  const plain =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
  return { kind: "scalar", value: plain, written: node.source ?? String(plain) };
}
