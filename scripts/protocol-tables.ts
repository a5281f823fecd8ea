import { readFileSync } from "node:fs";
import { POLICY_RULES, type PolicyKey } from "../src/policy/policy-keys.ts";
import { BUILTIN_ROLES } from "../src/roles/builtin-roles.ts";
import { ROLE_TYPES, type RoleType } from "../src/roles/role.ts";
import { PLUGIN_ROLE_TYPES, ROLE_TYPE_BUDGETS, UNSAID_BUDGET } from "../src/roles/role-budget.ts";

type Schema = {
  type?: string | string[];
  description?: string;
  pattern?: string;
  enum?: string[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  default?: unknown;
} & { [bound in Bound]?: number };
type Bound = "minimum" | "maximum" | "minLength" | "maxLength" | "maxItems";

/** Policy keys that bound how spawns nest and how many there are. */
const LIMIT_KEYS: readonly PolicyKey[] = [
  "subagent_max_depth",
  "max_children_per_spawn",
  "max_concurrent_spawns",
  "max_spawns_per_session",
  "session_token_soft_cap",
  "session_token_hard_cap",
];

/** The tables that stand in team-protocols/*.md, out of the code and the schemas. */
export function protocolTables(): Record<string, string> {
  return {
    limits: table(
      ["Key", "Default", "Meaning"],
      LIMIT_KEYS.map((key) => [code(key), POLICY_RULES[key].default, POLICY_RULES[key].meaning]),
    ),
    "role-types": table(
      ["Type", "Roles", "Input tokens", "Tool calls", "Time (ms)"],
      ROLE_TYPES.map((type) => {
        const { max_input_tokens, max_tool_calls, timeout_ms } = ROLE_TYPE_BUDGETS[type];
        return [type, rolesOf(type), max_input_tokens, max_tool_calls, timeout_ms];
      }),
    ),
    budget: table(["Field", "Bounds", "Default"], budgetRows()),
    contract: table(["Field", "Value", "Meaning"], contractRows(readSchema("return-contract"))),
  };
}

function rolesOf(type: RoleType): string {
  if (type === "other")
    return [...BUILTIN_ROLES.map(({ name }) => name), "every other agent file"].join(", ");
  const roles = [...PLUGIN_ROLE_TYPES].filter(([, of]) => of === type);
  return roles.map(([name]) => name).join(", ");
}

function budgetRows(): (string | number)[][] {
  const { properties = {} } = readSchema("spawn-payload").properties?.budget ?? {};
  const ownFile: Record<string, string> = {
    max_output_tokens: `the agent file's \`max_output_tokens\`, else ${UNSAID_BUDGET.max_output_tokens}`,
    max_turns: `the agent file's \`maxTurns\`, else ${UNSAID_BUDGET.max_turns}`,
  };
  return Object.entries(properties).map(([field, { minimum, maximum, default: unsaid }]) => [
    code(field),
    `${minimum} to ${maximum}`,
    ownFile[field] ?? (unsaid === undefined ? "the role type's" : String(unsaid)),
  ]);
}

/** Each field by its path; a star marks those that are required where their parent is there. */
function contractRows({ properties = {}, required = [], description = "" }: Schema, parent = ""): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const own = [
      `${code(parent + name)}${required.includes(name) ? " *" : ""}`,
      shapeOf(field),
      field.description ?? description,
    ];
    return field.properties === undefined ? [own] : contractRows(field, `${parent}${name}.`);
  });
}

function shapeOf({ type, enum: choices, items, pattern, ...bounds }: Schema): string {
  if (choices !== undefined) return `one of ${choices.join(", ")}`;
  const types = [type ?? []]
    .flat()
    .map((name) => (name === "array" ? `list of ${shapeOf(items ?? {})}` : name));
  if (pattern !== undefined) return "trace id";
  const { minimum, minLength, maxLength } = bounds;
  if (minLength !== undefined && maxLength !== undefined)
    return `${types.join(" or ")}, ${minLength} to ${maxLength} characters`;
  return `${types.join(" or ")}${minimum === undefined ? "" : `, ${minimum} or more`}`;
}

function readSchema(name: string): Schema {
  return JSON.parse(readFileSync(`plugin/schemas/${name}.schema.json`, "utf8"));
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}
