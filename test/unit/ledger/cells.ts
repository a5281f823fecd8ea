import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import { Cell } from "../../../src/ledger/cell.ts";
import { hasShape, isCount } from "../../../src/ledger/shape.ts";

export type Count = { count: number };

/** A folder for a cell of counts, removed after each test. */
export class CountingCell {
  readonly root = mkdtempSync(join(tmpdir(), "spawn-guard-cell-"));
  readonly folder = join(this.root, "cell");
  /** names of the files that were set aside */
  readonly damaged: string[] = [];
  readonly cell = this.open();

  open(): Cell<Count> {
    return new Cell<Count>(this.folder, decodeCount, (file) => this.damaged.push(file));
  }

  /** Commits `times` changes, one after the other. */
  count(times: number): void {
    for (let round = 0; round < times; round++) this.increment();
  }

  /** As another process does: a cell remembers what it has read. */
  increment(): Count | null {
    return this.open().update((value) => ({ count: (value?.count ?? 0) + 1 }), Date.now() + 5000);
  }

  names(): string[] {
    return readdirSync(this.folder).sort();
  }

  /** The newest version's file. */
  newest(): string {
    const numbers = this.names().flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? []);
    return join(this.folder, `${Math.max(...numbers.map(Number))}.json`);
  }

  bytes(): Buffer {
    return readFileSync(this.newest());
  }

  put(name: string, bytes: string | Uint8Array): void {
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(join(this.folder, name), bytes);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export function decodeCount(raw: unknown): Count | null {
  return isCounted(raw) ? raw : null;
}

function isCounted(raw: unknown): raw is Count {
  return hasShape(raw, { count: isCount });
}

/** A fresh cell for each test that asks for one. */
export function cells(): () => CountingCell {
  let open: CountingCell[] = [];
  afterEach(() => {
    for (const cell of open) cell.remove();
    open = [];
  });
  return () => {
    const cell = new CountingCell();
    open.push(cell);
    return cell;
  };
}
