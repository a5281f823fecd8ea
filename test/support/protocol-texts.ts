import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The protocols that are written by hand; role-selection-table.md is made and has tests of its own. */
export const WRITTEN = [
  "subagent-isolation.md",
  "untrusted-content-wrapping.md",
  "spawn-pattern.md",
  "return-contract.md",
] as const;

export type Fence = { language: string; text: string };

export type Protocol = {
  file: string;
  text: string;
  /** fenced blocks, in order */
  fences: Fence[];
  /** each text in backticks, fences left out, each once */
  codes: string[];
  /** rows of tables as cells, heads and rules left out */
  rows: string[][];
  /** what is neither fence nor table made from the code nor text in backticks */
  prose: string;
};

const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm;
const MADE_TABLE = /<!-- table [a-z-]+ -->\n(?:\|.*\n)*/g;
const CODE = /`([^`\n]+)`/g;

export function readProtocol(file: string): Protocol {
  const text = readFileSync(join("team-protocols", file), "utf8");
  const open = text.replace(FENCE, "");
  return {
    file,
    text,
    fences: [...text.matchAll(FENCE)].map(([, language = "", inside = ""]) => ({ language, text: inside })),
    codes: [...new Set([...open.matchAll(CODE)].map(([, code = ""]) => code))],
    rows: rowsOf(open),
    prose: open.replace(MADE_TABLE, "").replace(CODE, ""),
  };
}

/** The commands of a protocol: shell blocks as they stand, and those in a line of text. */
export function commandsIn({ fences, codes }: Protocol): string[] {
  return [
    ...fences.filter(({ language }) => language === "sh").map(({ text }) => text),
    ...codes.filter(isCommand),
  ];
}

export function isCommand(code: string): boolean {
  return code.startsWith("spawn-guard ");
}

function rowsOf(text: string): string[][] {
  const lines = text.split("\n");
  const isRow = (line: string | undefined) => line?.startsWith("|") === true;
  return lines
    .filter((line, at) => isRow(line) && isRow(lines[at - 1]) && !line.startsWith("|---"))
    .map((line) => line.slice(2, -2).split(" | "));
}
