/** The lines that say something, however they are spaced or marked. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/[\s*#-]+/g, " ").trim())
    .filter((line) => line !== "");
}

/** How many of the shorter text's lines stand in the other too, from 0 to 1. */
export function shared(one: string, other: string): number {
  const [fewer = [], more = []] = [linesOf(one), linesOf(other)].sort((a, b) => a.length - b.length);
  return fewer.filter((line) => more.includes(line)).length / fewer.length;
}
