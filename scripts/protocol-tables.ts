import { readFileSync } from "node:fs";
import { POLICY_RULES, type PolicyKey } from "../src/policy/policy-keys.ts";
import { BUILTIN_ROLES } from "../src/roles/builtin-roles.ts";
import { PLUGIN_ROLES } from "../src/roles/plugin-roles.generated.js";
import { ROLE_TYPES, type Role, type RoleType } from "../src/roles/role.ts";
import { defaultBudget, roleType } from "../src/roles/role-budget.ts";

type Schema = {
  type?: string | string[];
  description?: string;
  pattern?: string;
  enum?: string[];
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
} & { [bound in Bound]?: number };
type Bound = "minimum" | "maximum" | "minLength" | "maxLength";

/** Policy keys that bound how spawns nest and how many there are. */
const LIMIT_KEYS: readonly PolicyKey[] = [
  "subagent_max_depth",
  "max_children_per_spawn",
  "max_concurrent_spawns",
  "max_spawns_per_session",
  "session_token_soft_cap",
  "session_token_hard_cap",
];

const BUDGET_FIELDS = [
  "max_input_tokens",
  "max_tool_calls",
  "timeout_ms",
  "max_output_tokens",
  "max_turns",
  "retry_budget",
] as const;
/** What an agent file may say itself. */
const OWN_FIELDS: readonly string[] = ["max_output_tokens", "max_turns"];

/** The tables that stand in team-protocols/*.md, out of the code and the schemas. */
export function protocolTables(): Record<string, string> {
  return {
    limits: table(
      ["Key", "Default", "Meaning"],
      LIMIT_KEYS.map((key) => [code(key), POLICY_RULES[key].default, POLICY_RULES[key].meaning]),
    ),
    budgets: table(
      ["Type", "Roles", ...BUDGET_FIELDS.map(code)],
      [...ROLE_TYPES.map(budgetRow), boundsRow()],
    ),
    contract: table(["Field", "Value", "Meaning"], contractRows(readSchema("return-contract"))),
  };
}

function budgetRow(type: RoleType): (string | number)[] {
  const roles = type === "other" ? BUILTIN_ROLES : PLUGIN_ROLES.map(({ role }) => role).filter(isOf(type));
  const names = roles.map(({ name }) => name).join(", ");
  const [role] = roles;
  if (role === undefined) throw new Error(`no role is of type ${type}`);
  const unsaid = defaultBudget({ ...role, maxTurns: null, maxOutputTokens: null });
  return [
    type,
    type === "other" ? `${names}, every other agent file` : names,
    ...BUDGET_FIELDS.map(
      (field) => `${OWN_FIELDS.includes(field) ? "its file's, else " : ""}${unsaid[field]}`,
    ),
  ];
}

function isOf(type: RoleType): (role: Role) => boolean {
  return (role) => roleType(role) === type;
}

function boundsRow(): string[] {
  const { properties = {} } = readSchema("spawn-payload").properties?.budget ?? {};
  const bounds = BUDGET_FIELDS.map(
    (field) => `${properties[field]?.minimum} to ${properties[field]?.maximum}`,
  );
  return ["bounds", "any", ...bounds];
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
