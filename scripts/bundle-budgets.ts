import type { Bundle } from "./bundle.ts";

/** What a script may grow to. */
export type Budget = {
  /** bytes of built, minified code */
  bytes: number;
  /** source files */
  modules: number;
  /** packages, and Node's own modules as `node:fs` */
  loads: readonly string[];
};

/** node:os for the home folder that no project can name. */
const FILES = ["node:fs", "node:os", "node:path"];
const CHAIN = ["canonicalize", "node:crypto", "uuid"];
const AGENT_FILES = [
  "extend-shallow",
  "gray-matter",
  "is-extendable",
  "kind-of",
  "node:buffer",
  "node:process",
  "section-matter",
  "strip-bom-string",
  "yaml",
];
const COMMAND_LINE = ["commander", "node:child_process", "node:events"];
const MARKDOWN = ["entities", "linkify-it", "markdown-it", "mdurl", "punycode.js", "uc.micro"];

/**
 * Every built script, by its file under plugin/. Starting a hook costs what its code is long and what of Node it
 * loads, so these are its costs as a test can hold them: a tenth above what was needed when the row was last set.
 */
export const BUDGETS: Readonly<Record<string, Budget>> = {
  "hooks/start.cjs": { bytes: 1_500, modules: 4, loads: [...FILES, "node:vm"] },
  "hooks/pre-tool-use-agent.cjs": { bytes: 148_000, modules: 122, loads: [...FILES, ...CHAIN] },
  "hooks/pre-tool-use.cjs": { bytes: 90_000, modules: 69, loads: FILES },
  "hooks/pre-tool-use-launcher.cjs": { bytes: 91_000, modules: 70, loads: FILES },
  "hooks/post-tool-batch.cjs": { bytes: 65_000, modules: 55, loads: FILES },
  "hooks/post-tool-use.cjs": { bytes: 63_000, modules: 54, loads: FILES },
  "hooks/post-tool-use-failure.cjs": { bytes: 49_000, modules: 49, loads: FILES },
  "hooks/subagent-start.cjs": { bytes: 48_000, modules: 47, loads: FILES },
  "hooks/subagent-stop.cjs": { bytes: 66_000, modules: 55, loads: FILES },
  "hooks/stop-failure.cjs": { bytes: 60_000, modules: 52, loads: FILES },
  "hooks/session-start.cjs": { bytes: 55_000, modules: 57, loads: FILES },
  "hooks/session-end.cjs": { bytes: 46_000, modules: 46, loads: FILES },
  "hooks/user-prompt-submit.cjs": { bytes: 50_000, modules: 49, loads: FILES },
  "hooks/user-prompt-expansion.cjs": { bytes: 44_000, modules: 44, loads: FILES },
  "hooks/config-change.cjs": { bytes: 44_000, modules: 44, loads: FILES },
  "hooks/part-audit-decision.cjs": { bytes: 47_000, modules: 56, loads: [...FILES, ...CHAIN] },
  "hooks/part-audit-transitions.cjs": { bytes: 40_000, modules: 50, loads: [...FILES, ...CHAIN] },
  "hooks/part-audit-unjudged.cjs": { bytes: 54_000, modules: 62, loads: [...FILES, ...CHAIN] },
  "hooks/part-agent-folder.cjs": { bytes: 153_000, modules: 105, loads: [...FILES, ...AGENT_FILES] },
  "hooks/part-given-payload.cjs": { bytes: 48_000, modules: 12, loads: [] },
  "hooks/part-validate.cjs": { bytes: 45_000, modules: 7, loads: [] },
  "hooks/part-payload-sum.cjs": { bytes: 1_800, modules: 2, loads: ["canonicalize", "node:crypto"] },
  "hooks/part-redact.cjs": { bytes: 8_600, modules: 6, loads: [] },
  "hooks/part-skill-answer.cjs": {
    bytes: 297_000,
    modules: 164,
    loads: [...FILES, ...AGENT_FILES, ...COMMAND_LINE, "nanoid", "node:crypto", "node:os"],
  },
  "cli/spawn-guard.cjs": { bytes: 800, modules: 1, loads: [...FILES, "node:vm"] },
  "cli/main.cjs": {
    bytes: 346_000,
    modules: 232,
    loads: [...FILES, ...AGENT_FILES, ...COMMAND_LINE, ...CHAIN, "nanoid", "node:os", "node:url"],
  },
  "cli/part-context-command.cjs": {
    bytes: 342_000,
    modules: 158,
    loads: [...FILES, ...AGENT_FILES, ...COMMAND_LINE, ...MARKDOWN],
  },
};

/** What is wrong with a built script, a sentence each: the script, the value, the bound, the next step. */
export function overBudget({ file, bytes, modules, packages, builtins }: Bundle): string[] {
  const budget = BUDGETS[file.replace(/^plugin\//, "")];
  if (budget === undefined) return [`${file} has no budget; give it a row in scripts/bundle-budgets.ts`];
  const loaded = [...Object.keys(packages), ...builtins.map((name) => `node:${name}`)];
  const strange = loaded.filter((name) => !budget.loads.includes(name));
  return [
    ...(bytes > budget.bytes ? [`${file} has ${bytes} bytes, at most ${budget.bytes}; load less`] : []),
    ...(modules.length > budget.modules
      ? [`${file} has ${modules.length} modules, at most ${budget.modules}; load less`]
      : []),
    ...strange.map(
      (name) => `${file} loads ${name}, which is not in its row; load it only where it is needed`,
    ),
  ];
}
