import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hooksJson, SCRIPTS, type Starter } from "../src/hooks/event-table.ts";
import { userConfig } from "../src/policy/user-config.ts";
import { type Bundle, bundle, lazyParts } from "./bundle.ts";
import { generateProtocols } from "./generate-protocols.ts";
import { generateRoleTable } from "./generate-role-table.ts";
import { generateRoles } from "./generate-roles.ts";
import { generateValidators } from "./generate-validators.ts";
import { warmUp } from "./warm-up.ts";

const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));

const MANIFEST = "plugin/.claude-plugin/plugin.json";
const VERSION = { __VERSION__: JSON.stringify(version) };
const HERE = {
  banner: { js: 'const __url = require("node:url").pathToFileURL(__filename).href;' },
  define: { ...VERSION, "import.meta.url": "__url" },
};

/** What few decisions of the hooks need. */
const PARTS = [
  "src/roles/agent-folder.ts",
  "src/hooks/skill-answer.ts",
  "src/payload/validate.ts",
  "src/payload/given-payload.ts",
  "src/hooks/audit-decision.ts",
  "src/hooks/audit-transitions.ts",
  "src/hooks/audit-unjudged.ts",
  "src/payload/payload-sum.ts",
  "src/acs/redact.ts",
];

/**
 * Builds the plugin, and says what stands in each script: `npm run build -- --no-shell` for hooks that need no POSIX
 * shell, as on Windows.
 */
async function buildPlugin(starter: Starter): Promise<void> {
  await generateValidators();
  generateRoleTable();
  generateRoles();
  await generateProtocols();
  mkdirSync("plugin/hooks", { recursive: true });
  writeFileSync("plugin/hooks/hooks.json", `${JSON.stringify(hooksJson(starter), null, 2)}\n`);
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8"));
  writeFileSync(MANIFEST, `${JSON.stringify({ ...manifest, version, userConfig: userConfig() }, null, 2)}\n`);
  // V8 holds compiled code against the length of its source alone: none may outlive the source it was made from.
  for (const name of readdirSync("plugin/hooks")) {
    if (name.endsWith(".cache") || name.endsWith(".cjs")) rmSync(join("plugin/hooks", name));
  }
  rmSync("plugin/cli", { recursive: true, force: true });
  const bundles = await Promise.all([...SCRIPTS.map(hook), ...PARTS.map(part), ...cli(), ...starters()]);
  chmodSync("plugin/cli/spawn-guard.cjs", 0o755);
  const codeCache = "build/code-cache.cjs";
  await bundle(codeCache, { file: "scripts/code-cache.ts" });
  writeFileSync("build/bundles.json", `${JSON.stringify(bundles, null, 2)}\n`);
  for (const built of bundles) console.log(listing(built));
  warmUp(codeCache);
}

/** A hook's script is its module, run. */
function hook(script: string): Promise<Bundle> {
  const code = `import { runHook } from "./run-hook.ts"; import { hook } from "./${script}.ts"; void runHook(hook, __input);`;
  return bundle(
    `plugin/hooks/${script}.cjs`,
    { code, folder: "src/hooks" },
    { define: VERSION, plugins: [lazyParts(/\.ts$/)] },
  );
}

function part(file: string): Promise<Bundle> {
  const name = file.replace(/^.*\/(.*)\.ts$/, "$1");
  return bundle(`plugin/hooks/part-${name}.cjs`, { file }, { define: VERSION });
}

function cli(): Promise<Bundle>[] {
  return [
    // The Markdown parser is more than all the rest of the CLI.
    bundle(
      "plugin/cli/part-context-command.cjs",
      { file: "src/cli/context-command.ts" },
      { define: VERSION },
    ),
    bundle(
      "plugin/cli/main.cjs",
      { file: "src/cli/spawn-guard.ts" },
      { ...HERE, plugins: [lazyParts(/context-command\.ts$/)] },
    ),
  ];
}

/** Scripts that start another. */
function starters(): Promise<Bundle>[] {
  const hooks = 'import { startHook } from "./start.ts"; startHook(__dirname, ...process.argv.slice(2));';
  const commands =
    'import { join } from "node:path"; import { start } from "./start.ts"; start(join(__dirname, "main.cjs"), 1);';
  return [
    bundle("plugin/hooks/start.cjs", { code: hooks, folder: "src" }),
    bundle(
      "plugin/cli/spawn-guard.cjs",
      { code: commands, folder: "src" },
      { banner: { js: "#!/usr/bin/env node" } },
    ),
  ];
}

/** Its modules by name, those of a package by their number. */
function listing({ file, bytes, modules, packages, builtins, parts }: Bundle): string {
  const own = modules
    .filter((path) => !path.includes("node_modules/"))
    .map((path) => path.replace("src/", ""));
  const counted = Object.entries(packages).map(([name, count]) => `${name} (${count})`);
  const node = builtins.map((name) => `node:${name}`);
  return [
    `${file}: ${bytes} bytes, ${modules.length} modules`,
    `  ${[...node, ...counted, ...own].join(" ")}`,
    ...(parts.length === 0 ? [] : [`  when needed: ${parts.join(" ")}`]),
  ].join("\n");
}

const withoutShell = process.argv.includes("--no-shell") || process.platform === "win32";
await buildPlugin(withoutShell ? "node" : "sh");
