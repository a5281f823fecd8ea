import { userInfo } from "node:os";
import { join } from "node:path";
import { codeOf, readIfPresent } from "../ledger/files.ts";
import { isJson, type Json } from "../ledger/shape.ts";
import { POLICY_KEYS } from "./policy-keys.ts";
import { type PolicySource, type ResolvedPolicy, resolvePolicy } from "./resolve-policy.ts";

/** Where the host hands a user option to a plugin's hooks. */
export const OPTION_PREFIX = "CLAUDE_PLUGIN_OPTION_";
const PROJECT_FILE = ".claude/spawn-guard.json";
const PROJECT_SETTINGS = [".claude/settings.json", ".claude/settings.local.json"];
/** Where the user's settings are looked for; a project that sets one of these would name a folder of its own. */
const CONFIG_VARIABLE = "CLAUDE_CONFIG_DIR";
const HOME_VARIABLES = ["HOME", "USERPROFILE"];

/** Holds the key that signs receipts. A project that sets it names a key of its own: it does not count. */
export const AUDIT_KEY_VARIABLE = "SPAWN_GUARD_AUDIT_KEY";
/** Stands for that variable among the keys that a project has named. */
export const AUDIT_KEY = "audit_key";
/** Stands there for the folder that holds the user's settings. */
const CONFIG_FOLDER = "config_folder";

/** `projectKeys` are the keys that the project's settings name, or named before. */
export type LoadedPolicy = ResolvedPolicy & { projectKeys: string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the policy in force: user options from the environment, tightened by the project's file.
 *
 * A project's settings can put CLAUDE_PLUGIN_OPTION_… into every hook's environment (seen). What they name there
 * is therefore the project's word, and the user's own is looked for in the user's settings, where the host keeps
 * plugin options. When the project names that folder too, it is the one in the home folder that the system knows, and
 * no spawn is admitted where no settings are there: what the user wants cannot be told. The environment outlives the
 * file: keys that the file named earlier in the session (`namedBefore`) stay the project's. Unreadable files are
 * problems, never an error.
 */
export function loadPolicy(
  environment: Environment,
  projectFolder: string,
  configFolder: string,
  namedBefore: readonly string[] = [],
  homeFolder: () => string = systemHome,
): LoadedPolicy {
  const problems: string[] = [];
  const read = (file: string) => readJson(file, problems);
  const project = join(projectFolder, PROJECT_FILE);
  const unread = problems.length;
  const settings = PROJECT_SETTINGS.map((file) => read(join(projectFolder, file)));
  // What cannot be read here may still have been read by the host.
  const named =
    problems.length > unread ? new Set<string>([...POLICY_KEYS, AUDIT_KEY]) : namedByProject(settings);
  for (const key of namedBefore) named.add(key);
  const options = optionsIn(environment);
  const sources: PolicySource[] = [
    { name: "user option", trust: "user", values: without(options, named) },
    { name: PROJECT_FILE, trust: "project", values: projectValues(read(project)) },
  ];
  if (named.size > 0) {
    const moved = named.has(CONFIG_FOLDER) || movesFolder(settings, environment);
    if (moved) named.add(CONFIG_FOLDER);
    const own = moved ? movedSettings(homeFolder, problems) : read(join(configFolder, "settings.json"));
    if (own === null) sources.push(NO_SPAWNS);
    sources.push(
      { name: "user settings", trust: "user", values: only(pluginOptions(own ?? {}), named) },
      { name: "project settings", trust: "project", values: only(options, named) },
    );
  }
  const resolved = resolvePolicy(sources);
  return { ...resolved, problems: [...problems, ...resolved.problems], projectKeys: [...named] };
}

const NO_SPAWNS: PolicySource = {
  name: "user settings that cannot be found",
  trust: "project",
  values: { subagent_max_depth: 0 },
};

/** The user's own CLAUDE_CONFIG_DIR goes before any home folder. */
function movesFolder(settings: readonly Json[], { CLAUDE_CONFIG_DIR: own }: Environment): boolean {
  const names = own ? [CONFIG_VARIABLE] : [CONFIG_VARIABLE, ...HOME_VARIABLES];
  return settings.some((file) => setsVariable(file, names));
}

/** The user's settings where no project can move them, or null: said either way. */
function movedSettings(homeFolder: () => string, problems: string[]): Json | null {
  const names = [CONFIG_VARIABLE, ...HOME_VARIABLES].join(", ");
  const moved = `the project's settings set one of ${names} beside options of spawn-guard: not followed`;
  let file = "settings.json of a home folder that the system does not name";
  try {
    file = join(homeFolder(), "settings.json");
    const value: unknown = JSON.parse((readIfPresent(file) ?? "").replace(/^\uFEFF/, ""));
    if (isJson(value)) {
      problems.push(moved);
      return value;
    }
  } catch {
    // Said below, whatever it is.
  }
  problems.push(
    `${moved}. No spawn is admitted, since ${file} cannot be read: take either out of the project's`,
  );
  return null;
}

/** Not from the environment, which the project may have written. */
function systemHome(): string {
  return join(userInfo().homedir, ".claude");
}

function optionsIn(environment: Environment): Json {
  const found = POLICY_KEYS.map((key) => [key, environment[optionName(key)]] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined && value !== ""));
}

function optionName(key: string): string {
  return OPTION_PREFIX + key.toUpperCase();
}

/** The policy keys that a project's settings set: in the environment, or as the host keeps a user's options. */
function namedByProject(settings: readonly Json[]): Set<string> {
  const named = new Set<string>(
    POLICY_KEYS.filter((key) =>
      settings.some(
        (file) => setsVariable(file, [optionName(key)]) || Object.hasOwn(pluginOptions(file), key),
      ),
    ),
  );
  if (settings.some((file) => setsVariable(file, [AUDIT_KEY_VARIABLE]))) named.add(AUDIT_KEY);
  return named;
}

/** Windows does not tell the case of a variable's name. */
function setsVariable({ env }: Json, names: readonly string[]): boolean {
  return isJson(env) && Object.keys(env).some((name) => names.includes(name.toUpperCase()));
}

/** A project file may group the payload's caps: `{"max_budget": {"max_turns": 10}}`. */
function projectValues(file: Json): Json {
  const { max_budget: grouped, ...values } = file;
  if (!isJson(grouped)) return grouped === undefined ? values : file;
  const flat = Object.entries(grouped).map(([name, value]) => [
    `max_budget_${name.replace(/^max_/, "")}`,
    value,
  ]);
  return { ...values, ...Object.fromEntries(flat) };
}

/** What a settings file sets for this plugin, whichever marketplace it came from (host: `pluginConfigs`). */
function pluginOptions({ pluginConfigs }: Json): Json {
  const plugins = isJson(pluginConfigs) ? Object.entries(pluginConfigs) : [];
  const own = plugins.filter(([name]) => name === "spawn-guard" || name.startsWith("spawn-guard@"));
  const options = own.map(([, config]) => (isJson(config) && isJson(config.options) ? config.options : {}));
  return Object.fromEntries(options.flatMap(Object.entries));
}

function readJson(file: string, problems: string[]): Json {
  try {
    const text = readIfPresent(file);
    if (text === null) return {};
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (isJson(value)) return value;
    problems.push(`${file}: holds no JSON object and is ignored`);
  } catch (error) {
    problems.push(`${file}: cannot be read (${codeOf(error) ?? "not JSON"}) and is ignored`);
  }
  return {};
}

function without(values: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.has(name)));
}

function only(values: Json, names: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}
