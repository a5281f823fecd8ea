import type { FrontmatterFields, FrontmatterValue } from "./frontmatter-yaml.ts";
import { splitToolList } from "./tool-list.ts";

/** The fields of one file, and where to say what is wrong with them. */
export type FieldReader = {
  fields: FrontmatterFields;
  report: (severity: "error" | "warning", line: number, message: string) => void;
};

/** A field that must be a string; null when absent, empty or (reported) something else. */
export function readText({ fields, report }: FieldReader, key: string): string | null {
  const field = fields.get(key);
  if (field === undefined || isNothing(field.value)) return null;
  const { line, value } = field;
  if (value.kind === "scalar" && typeof value.value === "string") return value.value;
  report("error", line, `${key} is ${describe(value)}, not a string; quote it`);
  return null;
}

/** A field that must be an integer within the bounds; null when absent or (reported) something else. */
export function readInteger(
  { fields, report }: FieldReader,
  key: string,
  { min, max }: { min: number; max: number },
): number | null {
  const field = fields.get(key);
  if (field === undefined || isNothing(field.value)) return null;
  const { line, value } = field;
  const number = value.kind === "scalar" ? value.value : null;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= min && number <= max)
    return number;
  const bound = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  report(
    "error",
    line,
    `${key} is ${describe(value)}, not an integer ${bound}; write a number without quotes`,
  );
  return null;
}

/**
 * A tool list, in any of three spellings: a comma string, a flow list, a block list (case 79). `false` and
 * `[]` mean no tools (case 80); null when the key is absent, has no value, or (reported) holds something else.
 */
export function readTools({ fields, report }: FieldReader, key: string): string[] | null {
  const field = fields.get(key);
  if (field === undefined || isNothing(field.value)) return null;
  const { line, value } = field;
  const texts: string[] = [];
  if (value.kind === "list") {
    for (const item of value.items) {
      if (item.value.kind === "scalar" && item.value.value === null && item.value.written === "") continue;
      if (item.value.kind !== "scalar" || typeof item.value.value !== "string") {
        report(
          "error",
          item.line,
          `${key} has the entry ${describe(item.value)}, not a tool's name; quote it or remove it`,
        );
        return null;
      }
      texts.push(item.value.value);
    }
  } else if (value.kind === "scalar" && typeof value.value === "string") {
    texts.push(value.value);
  } else if (value.kind !== "scalar" || value.value !== false) {
    report(
      "error",
      line,
      `${key} is ${describe(value)}, not a list of tools; write names with commas between them`,
    );
    return null;
  }

  // YAML cuts the flow list [Bash(git diff:*, git log:*)] at its inner comma; joined, it is whole again
  const split = splitToolList(texts.join(", "));
  if (split.kind === "malformed") {
    report("error", line, `${key}: ${split.problem}`);
    return null;
  }
  for (const entry of split.splitAtSpaces) {
    report(
      "warning",
      line,
      `${key} has only spaces in ${JSON.stringify(entry)}; read as several tools, put commas between`,
    );
  }
  return split.tools;
}

/** Whether a field is absent, or stands there without a value. */
export function isNothing(value: FrontmatterValue | undefined): boolean {
  return value === undefined || (value.kind === "scalar" && value.value === null);
}

function describe(value: FrontmatterValue): string {
  if (value.kind === "map") return "a map";
  if (value.kind === "list") return "a list";
  const written = value.written.length > 40 ? `${value.written.slice(0, 40)}…` : value.written;
  if (value.value === null) return written === "" ? "empty" : written;
  return typeof value.value === "string" ? JSON.stringify(written) : `${written} (a ${typeof value.value})`;
}
