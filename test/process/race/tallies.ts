import { Cell } from "../../../src/ledger/cell.ts";
import { hasShape, isCount, isJson } from "../../../src/ledger/shape.ts";

/** What many processes count in one cell: a total, and each one's own number. */
export type Tallies = { total: number; by: Record<string, number> };

export function talliesAt(folder: string, damaged: (file: string) => void = () => {}): Cell<Tallies> {
  return new Cell(folder, (raw) => (isTallies(raw) ? raw : null), damaged);
}

/** Takes `name` from its number before to `number`; done again it changes nothing. */
export function countUp(cell: Cell<Tallies>, name: string, number: number): void {
  cell.update((tallies) => {
    const { total, by } = tallies ?? { total: 0, by: {} };
    return (by[name] ?? 0) >= number ? null : { total: total + 1, by: { ...by, [name]: number } };
  }, Date.now() + 30_000);
}

function isTallies(raw: unknown): raw is Tallies {
  return hasShape(raw, {
    total: isCount,
    by: (by) => isJson(by) && Object.values(by).every(isCount),
  });
}
