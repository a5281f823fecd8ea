/** Whether a JSON value has more levels of lists and objects than this; walks no deeper than that. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let level = 0; level < levels; level++) {
    layer = layer.flatMap(childrenOf).filter((child) => typeof child === "object" && child !== null);
    if (layer.length === 0) return false;
  }
  return true;
}

/** Entries of a JSON value's lists and objects on the two uppermost levels. */
export function countEntries(value: unknown): number {
  return childrenOf(value).reduce(
    (count: number, child) => count + 1 + (Array.isArray(child) ? child.length : childrenOf(child).length),
    0,
  );
}

function childrenOf(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [];
}
