const SHOWN = 60;

/** A value as one line of JSON for an error text, cut to 60 characters (code points). */
export function showValue(value: unknown): string {
  // A long string or list is cut before it is written out, so that an error text costs no megabytes.
  const short =
    typeof value === "string"
      ? value.slice(0, 2 * SHOWN)
      : Array.isArray(value) && value.length > SHOWN
        ? value.slice(0, SHOWN)
        : value;
  const characters = Array.from(writeOut(short));
  const cut = characters.length > SHOWN || short !== value;
  return cut ? `${characters.slice(0, SHOWN - 1).join("")}…` : characters.join("");
}

function writeOut(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Too deep to write out, or a value that JSON does not have.
    return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
  }
}

/** Characters as a person counts them: code points, as in JSON Schema's minLength. */
export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
