import { readFileSync } from "node:fs";

/** The skills that lead a piece of work through several spawns. */
export const ORCHESTRATORS = ["develop", "feature-design", "team-bugfix", "refactor", "migrate"] as const;

/** A skill's file, as it is. */
export function skillText(name: string): string {
  return readFileSync(`plugin/skills/${name}/SKILL.md`, "utf8");
}

/** The shell commands of a skill's fenced blocks, in order, without the indentation of the list they stand in. */
export function commandsIn(text: string): string[] {
  return [...text.matchAll(/^( *)```sh\n(.*?)\n\1```$/gms)].map(([, indent = "", code = ""]) =>
    code.replace(new RegExp(`^${indent}`, "gm"), ""),
  );
}

/** Those of them that build a spawn. */
export function buildsIn(text: string): string[] {
  return commandsIn(text).filter((command) => command.startsWith("spawn-guard build"));
}

/** What stands in a build's here-document. */
export function argumentsIn(command: string): Record<string, unknown> {
  const [, , json = "null"] = /<<'(\w+)'\n(.*?)\n\1$/s.exec(command) ?? [];
  return JSON.parse(json);
}
