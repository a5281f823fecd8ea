/**
 * The known name that an unknown one was probably meant to be: equal without case, `-` and `_`, or at
 * most two letters away (one, for names of up to four letters). Null when there is none.
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = bare(name);
  if (wanted.length > 60) return null;
  let best: string | null = null;
  let bestDistance = wanted.length <= 4 ? 2 : 3;
  for (const candidate of known) {
    const distance = editDistance(wanted, bare(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function bare(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, "");
}

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
