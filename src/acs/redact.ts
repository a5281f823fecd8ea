import { isSecretName } from "./secret-name.ts";
import { redacted, redactText } from "./secret-text.ts";

const DEEPEST = 40;

/**
 * Takes secrets out of JSON content that is to be logged (case 126): values whose name says so, and what looks
 * like a key, token, password or private key in any text, JSON inside texts included. Each becomes
 * `[redacted:<kind>]`; what lies deeper than 40 levels becomes `[redacted:depth]`. Gives back the value itself where
 * nothing changes. Finds what it knows, not every secret.
 */
export function redact(value: unknown): unknown {
  return redactAt(value, 0);
}

function redactAt(value: unknown, depth: number): unknown {
  if (typeof value === "string") return redactString(value, depth);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEEPEST) return redacted("depth");
  return Array.isArray(value) ? redactList(value, depth) : redactObject(value, depth);
}

function redactObject(given: object, depth: number): object {
  const entries = Object.entries(given).map(([name, value]) => {
    return { name, value, cleanName: redactString(name, depth + 1), cleanValue: redactAt(value, depth + 1) };
  });
  const namesSecret = entries.some(({ name, cleanValue }) => isNameMember(name) && isSecretText(cleanValue));
  let changed = false;
  const clean = entries.map(({ name, value, cleanName, cleanValue }): [string, unknown] => {
    const isSecret = isSecretText(cleanName) || (namesSecret && /^value$/i.test(name));
    const left = isSecret ? withoutSecret(value) : cleanValue;
    changed ||= cleanName !== name || left !== value;
    return [cleanName, left];
  });
  return changed ? Object.fromEntries(clean) : given;
}

/** In `{name: "API_KEY", value: "…"}`, as lists of variables and headers have it, the secret's name is a value. */
function isNameMember(name: string): boolean {
  return /^(?:field|header|key|name|variable)$/i.test(name);
}

/** Judged by what the text has become, so that a second time gives the same; a marker is no name. */
function isSecretText(clean: unknown): boolean {
  return typeof clean === "string" && isSecretName(clean.replace(/\[redacted:[a-z-]{1,20}\]/g, ""));
}

/** In `["--token", "…"]` and in pairs such as `["Cookie", "…"]` the name stands before. */
function redactList(given: readonly unknown[], depth: number): readonly unknown[] {
  const clean: unknown[] = [];
  let changed = false;
  for (const value of given) {
    const isNamed = namesNext(clean.at(-1), given.length === 2);
    const left = isNamed ? withoutSecret(value) : redactAt(value, depth + 1);
    changed ||= left !== value;
    clean.push(left);
  }
  return changed ? clean : given;
}

function namesNext(before: unknown, inPair: boolean): boolean {
  if (typeof before !== "string" || !/^[\w.-]+:?$/.test(before)) return false;
  return (inPair || before.startsWith("--")) && isSecretName(before);
}

/** Yes, no, nothing and another flag are no secrets. */
function withoutSecret(value: unknown): unknown {
  if (value === "" || value === null || value === undefined || typeof value === "boolean") return value;
  return typeof value === "string" && /^--[a-z]/i.test(value) ? value : redacted("secret");
}

function redactString(text: string, depth: number): string {
  const inner = parsed(text);
  if (inner === undefined) return redactText(text);
  const clean = redactAt(inner, depth + 1);
  // a text of JSON may hold more than its value: a name that comes twice
  if (clean === inner && redactText(text) === text) return text;
  return JSON.stringify(clean);
}

/** The object, list or text that a text of JSON stands for. */
function parsed(text: string): unknown {
  if (!/^\s*["[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
