import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { hooksJson, SCRIPTS } from "../src/hooks/event-table.ts";
import { userConfig } from "../src/policy/user-config.ts";
import { generateProtocols } from "./generate-protocols.ts";
import { generateRoleTable } from "./generate-role-table.ts";
import { generateRoles } from "./generate-roles.ts";
import { generateValidators } from "./generate-validators.ts";
import { warmUp } from "./warm-up.ts";

const { version }: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));

const MANIFEST = "plugin/.claude-plugin/plugin.json";

/**
 * Hooks load what only a few decisions need (the reader of agent files, the builder) from files beside them.
 * CommonJS throughout: Node starts an ES module about 7 % slower.
 */
const lazyParts = (filter: RegExp): Plugin => ({
  name: "lazy-parts",
  setup({ onResolve }) {
    onResolve({ filter }, ({ kind, path }) => {
      if (kind !== "dynamic-import") return undefined;
      return { path: `./part-${basename(path, ".ts")}.cjs`, external: true };
    });
  },
});

/** gray-matter brings engines that evaluate what they read; the reader of agent files names its own (case 94). */
const noEngines: Plugin = {
  name: "no-engines",
  setup({ onLoad }) {
    onLoad({ filter: /gray-matter[\\/]lib[\\/]engines\.js$/ }, () => ({ contents: "module.exports = {};" }));
  },
};

const shared: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node20",
  legalComments: "none",
  logLevel: "warning",
  minifySyntax: true,
  minifyWhitespace: true,
  minifyIdentifiers: true,
  keepNames: false,
  // A script that runs from compiled code has no module loader for import(); require does the same.
  supported: { "dynamic-import": false },
  define: { __VERSION__: JSON.stringify(version) },
};

export async function buildPlugin(): Promise<void> {
  await generateValidators();
  generateRoleTable();
  generateRoles();
  await generateProtocols();
  mkdirSync("plugin/hooks", { recursive: true });
  writeFileSync("plugin/hooks/hooks.json", `${JSON.stringify(hooksJson(), null, 2)}\n`);
  const manifest = JSON.parse(readFileSync(MANIFEST, "utf8"));
  writeFileSync(MANIFEST, `${JSON.stringify({ ...manifest, version, userConfig: userConfig() }, null, 2)}\n`);
  // V8 holds compiled code against the length of its source alone: none may outlive the source it was made from.
  for (const name of readdirSync("plugin/hooks")) {
    if (name.endsWith(".cache") || name.endsWith(".cjs")) rmSync(join("plugin/hooks", name));
  }
  await Promise.all(SCRIPTS.map(buildHook));
  await build({
    ...shared,
    entryPoints: {
      "part-agent-folder": "src/roles/agent-folder.ts",
      "part-skill-answer": "src/hooks/skill-answer.ts",
      "part-validate": "src/payload/validate.ts",
      "part-given-payload": "src/payload/given-payload.ts",
      "part-rights-problem": "src/guard/rights-problem.ts",
      "part-audit": "src/hooks/audit.ts",
      "part-payload-sum": "src/payload/payload-sum.ts",
      "part-redact": "src/acs/redact.ts",
    },
    outdir: "plugin/hooks",
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    plugins: [noEngines],
  });
  rmSync("plugin/cli", { recursive: true, force: true });
  // The Markdown parser is more than all the rest of the CLI.
  await build({
    ...shared,
    entryPoints: ["src/cli/context-command.ts"],
    outfile: "plugin/cli/part-context-command.cjs",
    format: "cjs",
    plugins: [noEngines],
  });
  await build({
    ...shared,
    entryPoints: ["src/cli/spawn-guard.ts"],
    outfile: "plugin/cli/main.cjs",
    format: "cjs",
    plugins: [noEngines, lazyParts(/context-command\.ts$/)],
    banner: { js: 'const __url = require("node:url").pathToFileURL(__filename).href;' },
    define: { ...shared.define, "import.meta.url": "__url" },
  });
  await buildStarter("plugin/hooks/start.cjs", 'startHook(__dirname, process.argv[2] ?? "")');
  await buildStarter(
    "plugin/cli/spawn-guard.cjs",
    'start(join(__dirname, "main.cjs"), 1)',
    "#!/usr/bin/env node",
  );
  chmodSync("plugin/cli/spawn-guard.cjs", 0o755);
  const codeCache = "build/code-cache.cjs";
  await build({ ...shared, entryPoints: ["scripts/code-cache.ts"], outfile: codeCache, format: "cjs" });
  warmUp(codeCache);
}

/** A script that starts another; `call` says which. */
async function buildStarter(outfile: string, call: string, shebang = ""): Promise<void> {
  await build({
    ...shared,
    stdin: {
      contents: `import { join } from "node:path"; import { start, startHook } from "./start.ts"; ${call};`,
      resolveDir: "src",
      loader: "ts",
    },
    outfile,
    format: "cjs",
    banner: { js: shebang },
  });
}

/** A hook's script is its module, run. */
async function buildHook(script: string): Promise<void> {
  await build({
    ...shared,
    stdin: {
      contents: `import { runHook } from "./run-hook.ts"; import { hook } from "./${script}.ts"; void runHook(hook);`,
      resolveDir: "src/hooks",
      loader: "ts",
    },
    outfile: `plugin/hooks/${script}.cjs`,
    format: "cjs",
    plugins: [lazyParts(/\.ts$/)],
  });
}

await buildPlugin();
