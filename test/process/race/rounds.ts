/** How often a test is repeated: SPAWN_GUARD_<name> for a full run, a few times otherwise. */
export function rounds(name: string, few: number): number {
  const asked = process.env[`SPAWN_GUARD_${name}`];
  if (asked === undefined || asked === "") return few;
  const count = Number(asked);
  if (!Number.isSafeInteger(count) || count < 1) throw new Error(`SPAWN_GUARD_${name} is ${asked}, no count`);
  return count;
}

/** A test's time limit for so many rounds, in milliseconds: none but a process that hangs comes near it. */
export function patience(count: number): { timeout: number } {
  return { timeout: 60_000 + 20_000 * count };
}
