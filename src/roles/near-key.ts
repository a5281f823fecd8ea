/** The frontmatter keys that Claude Code reads in an agent file, and our own `max_output_tokens`. */
const KNOWN_KEYS = [
  "name",
  "description",
  "tools",
  "disallowedTools",
  "model",
  "effort",
  "maxTurns",
  "max_output_tokens",
  "permissionMode",
  "mcpServers",
  "hooks",
  "skills",
  "memory",
  "background",
  "isolation",
  "color",
  "initialPrompt",
] as const;

/** Other words for a known key, as people write them (case 81); lower-case letters only. */
const OTHER_WORDS = new Map<string, (typeof KNOWN_KEYS)[number]>([
  ["allowedtools", "tools"],
  ["allowtools", "tools"],
  ["allowedtool", "tools"],
  ["permittedtools", "tools"],
  ["toolsallowed", "tools"],
  ["deniedtools", "disallowedTools"],
  ["denytools", "disallowedTools"],
  ["denyedtools", "disallowedTools"],
  ["blockedtools", "disallowedTools"],
  ["disabledtools", "disallowedTools"],
  ["forbiddentools", "disallowedTools"],
  ["excludedtools", "disallowedTools"],
  ["toolsdisallowed", "disallowedTools"],
  ["turns", "maxTurns"],
  ["turnlimit", "maxTurns"],
  ["maxsteps", "maxTurns"],
  ["maxiterations", "maxTurns"],
  ["maxoutput", "max_output_tokens"],
  ["outputtokens", "max_output_tokens"],
  ["maxtokens", "max_output_tokens"],
]);

/**
 * The known key that an unknown one was probably meant to be; null for a known key and for one that is near
 * to none. Case, `-` and `_` do not count; one wrong letter is near, two in long words.
 */
export function nearKnownKey(key: string): string | null {
  if (KNOWN_KEYS.some((known) => known === key)) return null;
  const letters = lettersOf(key);
  const meant = OTHER_WORDS.get(letters);
  if (meant !== undefined) return meant;
  const near = KNOWN_KEYS.find((known) => {
    const allowed = known.length >= 8 ? 2 : known.length >= 5 ? 1 : 0;
    return editDistance(letters, lettersOf(known), allowed) <= allowed;
  });
  return near ?? null;
}

function lettersOf(key: string): string {
  return key.replace(/[-_\s]/g, "").toLowerCase();
}

/** Levenshtein distance; anything above `limit` may come back as just more than it. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const replaced = (row[j] ?? 0) + (letter === b.charAt(j) ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
