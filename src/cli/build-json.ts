import { nearestName } from "../payload/nearest-name.ts";
import { showValue } from "../payload/show-value.ts";
import type { BuildArguments, ParsedArguments } from "./build-arguments.ts";

const TEXTS = ["role", "task", "stack", "parent_trace_id", "run"] as const;
const NUMBERS = ["max_tokens", "max_output", "max_tool_calls", "max_turns", "timeout_ms", "seq"] as const;
const NAMES: readonly string[] = [...TEXTS, ...NUMBERS, "constraints", "state", "untrusted"];

class WrongArgument extends Error {}

/**
 * Reads the arguments of `spawn-guard build --json`: one object with the options' names in snake_case or
 * camelCase, `constraints` a list of texts, `state` an object, `untrusted` a list of {label, text}.
 * A member that is null counts as left out.
 */
export function parseBuildJson(text: string): ParsedArguments {
  try {
    const members = namedMembers(parseObject(text));
    return { kind: "arguments", arguments: toArguments(members) };
  } catch (error) {
    if (error instanceof WrongArgument) return { kind: "usage", problem: error.message };
    throw error;
  }
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WrongArgument(`standard input is not JSON (${why}); write one object with role and task`);
  }
  if (!isObject(value))
    throw new WrongArgument(`standard input is ${showValue(value)}; write one object with role and task`);
  const twice = memberGivenTwice(text);
  if (twice !== null) throw new WrongArgument(`${showValue(twice)} is given twice; give it once`);
  return value;
}

/** JSON.parse keeps the last of two members of one name and says nothing. `json` is an object's, and valid. */
function memberGivenTwice(json: string): string | null {
  const names = new Set<string>();
  let depth = 0;
  let text = "";
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (token !== ":") text = token;
    else if (depth === 1) {
      const name = String(JSON.parse(text));
      if (names.has(name)) return name;
      names.add(name);
    }
  }
  return null;
}

/** The members by their snake_case names. */
function namedMembers(object: Record<string, unknown>): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [given, value] of Object.entries(object)) {
    const name = NAMES.find((known) => given === known || given === camelCase(known));
    if (name === undefined) {
      const near = nearestName(given, NAMES);
      const hint = near === null ? `known are ${NAMES.join(", ")}` : `did you mean ${near}?`;
      throw new WrongArgument(`${showValue(given)} is not a known argument; ${hint}`);
    }
    if (members.has(name)) throw new WrongArgument(`${name} is given twice, in both spellings; give it once`);
    if (value !== null) members.set(name, value);
  }
  return members;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function toArguments(members: Map<string, unknown>): BuildArguments {
  const text = (name: (typeof TEXTS)[number]) => optionalText(members, name);
  const number = (name: (typeof NUMBERS)[number]) => optionalNumber(members, name);
  const role = text("role");
  const task = text("task");
  const stack = text("stack");
  if (role === undefined && stack === undefined)
    throw new WrongArgument("role is missing; `spawn-guard roles` lists the roles, and stack can choose one");
  if (task === undefined)
    throw new WrongArgument("task is missing; say in 10 to 1000 characters what is to be done");
  return {
    role,
    task,
    stack,
    maxTokens: number("max_tokens"),
    maxOutput: number("max_output"),
    maxToolCalls: number("max_tool_calls"),
    maxTurns: number("max_turns"),
    timeoutMs: number("timeout_ms"),
    parentTraceId: text("parent_trace_id"),
    run: text("run"),
    seq: number("seq"),
    constraints: list(members, "constraints").map((entry, index) => textOf(entry, `constraints[${index}]`)),
    state: inlineState(members.get("state")),
    untrusted: list(members, "untrusted").map(labelledText),
  };
}

function optionalText(members: Map<string, unknown>, name: string): string | undefined {
  const value = members.get(name);
  return value === undefined ? undefined : textOf(value, name);
}

function optionalNumber(members: Map<string, unknown>, name: string): number | undefined {
  const value = members.get(name);
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  if (typeof value === "number" && Number.isInteger(value))
    throw new WrongArgument(
      `${name} is beyond ${Number.MAX_SAFE_INTEGER}, where numbers are no longer exact; write a smaller one`,
    );
  throw new WrongArgument(`${name} is ${showValue(value)}; it has to be a whole number, without quotes`);
}

function inlineState(state: unknown): BuildArguments["state"] {
  if (state === undefined) return undefined;
  if (!isObject(state)) throw new WrongArgument(`state is ${showValue(state)}; it has to be an object`);
  return { from: "arguments", slice: state };
}

function list(members: Map<string, unknown>, name: string): unknown[] {
  const value = members.get(name) ?? [];
  if (!Array.isArray(value)) throw new WrongArgument(`${name} is ${showValue(value)}; it has to be a list`);
  return value;
}

function labelledText(entry: unknown, index: number): BuildArguments["untrusted"][number] {
  const where = `untrusted[${index}]`;
  if (!isObject(entry))
    throw new WrongArgument(`${where} is ${showValue(entry)}; it has to be {label, text}`);
  const other = Object.keys(entry).find((name) => name !== "label" && name !== "text");
  if (other !== undefined)
    throw new WrongArgument(`${where} has ${showValue(other)}; it has to be {label, text}`);
  const label = textOf(entry.label, `${where}.label`);
  if (label === "") throw new WrongArgument(`${where}.label is empty; say where the text comes from`);
  return { label, text: { from: "arguments", text: textOf(entry.text, `${where}.text`) } };
}

function textOf(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  throw new WrongArgument(
    value === undefined ? `${name} is missing` : `${name} is ${showValue(value)}; it has to be a text`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
