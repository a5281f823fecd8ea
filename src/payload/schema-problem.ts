import { nearestName } from "./nearest-name.ts";
import { countCharacters, showValue } from "./show-value.ts";
import type { FieldProblem } from "./spawn-payload.ts";
import type { SchemaError } from "./validators.generated.js";

/**
 * An error of the compiled schema in words: the field (`budget.max_turns`), what it is, the bound.
 * `whole` names the value itself, for errors that are about no single field.
 */
export function schemaProblem(error: SchemaError, whole: string): FieldProblem {
  const path = fieldPath(error.instancePath);
  const { params } = error;
  switch (error.keyword) {
    case "required":
      return { field: join(path, String(params.missingProperty)), problem: "is missing; it is required" };
    case "additionalProperties":
      return unknownField(path, String(params.additionalProperty), error.parentSchema);
    default:
      return { field: path === "" ? whole : path, problem: `${what(error)}; ${bound(error)}` };
  }
}

function unknownField(path: string, name: string, schema: Record<string, unknown>): FieldProblem {
  const { properties } = schema;
  const known = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const near = nearestName(name, known);
  return {
    field: join(path, name),
    problem:
      near === null
        ? `is not a known field; known are ${known.join(", ")}`
        : `is not a known field; did you mean ${near}?`,
  };
}

function what({ keyword, data }: SchemaError): string {
  if (typeof data === "string" && (keyword === "minLength" || keyword === "maxLength")) {
    return `${showValue(data)} has ${count(countCharacters(data), "character")}`;
  }
  if (Array.isArray(data) && (keyword === "minItems" || keyword === "maxItems")) {
    return `has ${data.length === 1 ? "1 entry" : `${data.length} entries`}`;
  }
  return `is ${showValue(data)}`;
}

function bound({ keyword, params }: SchemaError): string {
  switch (keyword) {
    case "minLength":
    case "minItems":
    case "minimum":
      return `at least ${params.limit}`;
    case "maxLength":
    case "maxItems":
    case "maximum":
      return `at most ${params.limit}`;
    case "type":
      return `has to be ${typeNames(params.type)}`;
    case "enum":
      return `has to be one of ${Array.isArray(params.allowedValues) ? params.allowedValues.join(", ") : ""}`;
    case "pattern":
      return `has to match ${params.pattern}, as in wf-20260427-abc123-spawn-001`;
    default:
      return `breaks the rule ${keyword}`;
  }
}

const TYPE_NAMES: Record<string, string> = {
  string: "a text",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

function typeNames(type: unknown): string {
  const types = Array.isArray(type) ? type : [type];
  return types.map((name) => TYPE_NAMES[String(name)] ?? String(name)).join(" or ");
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** `/budget/max_turns` → `budget.max_turns`, `/constraints/3` → `constraints[3]` */
function fieldPath(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : join(path, part)), "");
}

function join(path: string, name: string): string {
  if (!/^[\w$-]{1,60}$/.test(name)) return `${path}[${showValue(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}
