import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Cell } from "../../../src/ledger/cell.ts";
import { isTexts } from "../../../src/ledger/shape.ts";
import { type CountingCell, cells } from "../../unit/ledger/cells.ts";

const newCell = cells();

/**
 * What happens to a cell, in order. `during` happens between an update's reading and its committing: other
 * processes' updates, and damage.
 */
type Step = { kind: "update"; during: Step[] } | { kind: "damage"; how: (bytes: Buffer) => Uint8Array };

const damage = fc.oneof(
  fc.constant(() => new Uint8Array()),
  fc.nat(200).map((length) => (bytes: Buffer) => bytes.subarray(0, length % bytes.length)),
  fc.tuple(fc.nat(10_000), fc.integer({ min: 1, max: 255 })).map(([at, mask]) => (bytes: Buffer) => {
    const flipped = Buffer.from(bytes);
    flipped[at % bytes.length] = (flipped[at % bytes.length] ?? 0) ^ mask;
    return flipped;
  }),
  fc.constant((bytes: Buffer) => Buffer.concat([bytes, bytes])),
);

const { steps: STEPS } = fc.letrec<{ steps: Step[]; step: Step }>((tie) => ({
  steps: fc.array(tie("step"), { maxLength: 6 }),
  step: fc.oneof(
    { depthSize: "small", maxDepth: 3 },
    { arbitrary: fc.record({ kind: fc.constant("damage" as const), how: damage }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant("update" as const), during: tie("steps") }), weight: 4 },
  ),
}));

/** A cell that holds a set of names, and beside it a record of every name whose update has returned. */
class Names {
  readonly recorded: string[] = [];
  private next = 0;
  private readonly cell: Cell<string[]>;

  constructor(private readonly at: CountingCell) {
    this.cell = new Cell<string[]>(at.folder, (raw) => (isTexts(raw) ? raw : null));
  }

  run(steps: readonly Step[]): void {
    for (const step of steps) {
      if (step.kind === "damage") this.damage(step.how);
      else this.update(step.during);
    }
  }

  private update(during: readonly Step[]): void {
    const name = `n${this.next++}`;
    let first = true;
    this.cell.update((value, lost) => {
      if (first) {
        first = false;
        this.run(during);
      }
      const names = this.rebuilt(value, lost);
      return names.includes(name) && !lost ? null : [...new Set([...names, name])];
    }, Date.now() + 60_000);
    this.recorded.push(name);
  }

  private damage(how: (bytes: Buffer) => Uint8Array): void {
    if (this.recorded.length === 0 || this.cell.read().value === null) return;
    writeFileSync(this.at.newest(), how(this.at.bytes()));
  }

  /** Every name that can be known: the value, and the records as well when something was lost. */
  known(): string[] {
    const { value, lost } = this.cell.read();
    return this.rebuilt(value, lost).sort();
  }

  private rebuilt(value: string[] | null, lost: boolean): string[] {
    return [...new Set([...(value ?? []), ...(lost ? this.recorded : [])])];
  }
}

describe("a cell that others change and damage between any two steps", () => {
  it("never loses a committed change without saying so", () => {
    fc.assert(
      fc.property(STEPS, (steps) => {
        const names = new Names(newCell());
        names.run(steps);
        expect(names.known()).toEqual([...names.recorded].sort());
      }),
      { numRuns: 100 },
    );
  });
});
