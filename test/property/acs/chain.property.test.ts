import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { Chain } from "../../../src/acs/chain.ts";
import { segmentName } from "../../../src/acs/chain-files.ts";
import { headCell } from "../../../src/acs/chain-head.ts";
import type { Step } from "../../../src/acs/envelope.ts";
import { Signer } from "../../../src/acs/signer.ts";
import { type ChainReport, verifyChain } from "../../../src/acs/verify-chain.ts";
import { ACTOR, appends, callStep, rootStep } from "../../support/chain-steps.ts";
import { receiptsIn } from "../../support/receipts.ts";

const root = mkdtempSync(join(tmpdir(), "spawn-guard-chain-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;

const SIGNER = new Signer(Buffer.alloc(32, 7));
/** about three receipts */
const SEGMENT_BYTES = 4_000;
const RUNS = { numRuns: 60 };

type Files = Map<string, Buffer>;

function newFolder(): string {
  folders += 1;
  return join(root, "audit", String(folders), ACTOR.session);
}

function append(folder: string, steps: readonly Step[], signer: Signer | null = null): string[] {
  const chain = new Chain(folder, { signer, deadline: Date.now() + 10_000, segmentBytes: SEGMENT_BYTES });
  chain.append(steps, rootStep);
  return chain.notes;
}

/** A chain on disk, made of these appends. */
function chainOf(groups: readonly (readonly Step[])[], signer: Signer | null = null): string {
  const folder = newFolder();
  for (const steps of groups) append(folder, steps, signer);
  return folder;
}

function verify(folder: string, signer: Signer | null = null): ChainReport {
  return verifyChain(folder, ACTOR.session, signer, () => {});
}

function filesOf(folder: string): Files {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort();
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
}

function put(folder: string, files: Files): void {
  for (const name of filesOf(folder).keys()) rmSync(join(folder, name));
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
}

type At = { file: string; line: number; bytes: string };

function linesIn(folder: string, files: Files): At[] {
  return [...files].flatMap(([name, bytes]) => {
    const lines = bytes.toString("latin1").split(/(?<=\n)/);
    return lines
      .filter((text) => text !== "")
      .map((text, index) => ({ file: join(folder, name), line: index + 1, bytes: text }));
  });
}

/** The first line that is not the one that stood there, or the last one of a chain that has lost its tail. */
function firstBroken(folder: string, before: Files, after: Files): { file: string; line: number } {
  const was = linesIn(folder, before);
  const files = withTail(folder, after);
  const names = [...files.keys()].sort();
  const whole = names.findIndex((name, index) => name !== segmentName(index + 1));
  const is = linesIn(
    folder,
    new Map(
      names
        .slice(0, whole === -1 ? undefined : whole)
        .map((name) => [name, files.get(name) ?? Buffer.alloc(0)]),
    ),
  );
  const changed = is.find(({ bytes }, index) => bytes !== was[index]?.bytes);
  const { file, line } = changed ?? (whole === -1 ? is.at(-1) : undefined) ?? { file: folder, line: 0 };
  return { file, line };
}

/** The files with the lines that the head holds, where those have been begun or not even that. */
function withTail(folder: string, files: Files): Files {
  const { segment, start, end, lines } = headCell(folder).read().value ?? {
    segment: 0,
    start: 0,
    end: 0,
    lines: "",
  };
  const name = segmentName(segment);
  const bytes = files.get(name) ?? Buffer.alloc(0);
  const whole = Buffer.concat([bytes.subarray(0, start), Buffer.from(lines)]);
  const isBegun =
    bytes.length >= start && bytes.length < end && whole.subarray(0, bytes.length).equals(bytes);
  return isBegun ? new Map(files).set(name, whole) : files;
}

/** Whether only what the head holds is missing at the end: as a killed hook leaves it. */
function isUnwritten(folder: string, before: Files, after: Files): boolean {
  const head = headCell(folder).read().value;
  const name = segmentName(head?.segment ?? 0);
  const written = after.get(name) ?? Buffer.alloc(0);
  const others = [...before.keys()].filter((other) => other !== name);
  return (
    [...after.keys()].every((other) => before.has(other)) &&
    others.every((other) => after.get(other)?.equals(before.get(other) ?? Buffer.alloc(0))) &&
    written.length >= (head?.start ?? 0) &&
    (before.get(name)?.subarray(0, written.length).equals(written) ?? false)
  );
}

/** Spoils a chain's files; null when this chain cannot be spoilt so. */
type Spoil = (files: Files, pick: (count: number) => number) => Files | null;

function inLines(
  spoil: (lines: Buffer[], at: number, pick: (count: number) => number) => Buffer[] | null,
): Spoil {
  return (files, pick) => {
    const names = [...files.keys()];
    const name = names[pick(names.length)] ?? "";
    const lines = split(files.get(name) ?? Buffer.alloc(0));
    const spoilt = spoil(lines, pick(lines.length), pick);
    return spoilt === null ? null : new Map(files).set(name, Buffer.concat(spoilt));
  };
}

function split(bytes: Buffer): Buffer[] {
  return bytes
    .toString("latin1")
    .split(/(?<=\n)/)
    .filter((text) => text !== "")
    .map((text) => Buffer.from(text, "latin1"));
}

function inBytes(spoil: (bytes: Buffer, at: number, pick: (count: number) => number) => Buffer): Spoil {
  return (files, pick) => {
    const names = [...files.keys()];
    const name = names[pick(names.length)] ?? "";
    const bytes = files.get(name) ?? Buffer.alloc(0);
    return new Map(files).set(name, spoil(bytes, pick(bytes.length), pick));
  };
}

const SPOILS: [string, Spoil][] = [
  [
    "a changed byte",
    inBytes((bytes, at, pick) => {
      const changed = Buffer.from(bytes);
      changed[at] = ((bytes[at] ?? 0) + 1 + pick(255)) % 256;
      return changed;
    }),
  ],
  [
    "a byte that is gone",
    inBytes((bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])),
  ],
  [
    "a byte too many",
    inBytes((bytes, at, pick) =>
      Buffer.concat([bytes.subarray(0, at), Buffer.of(pick(256)), bytes.subarray(at)]),
    ),
  ],
  ["a truncated segment", inBytes((bytes, at) => bytes.subarray(0, at))],
  ["a line that is gone", inLines((lines, at) => lines.filter((_, index) => index !== at))],
  [
    "a line that stands twice",
    inLines((lines, at) => lines.flatMap((line, index) => (index === at ? [line, line] : [line]))),
  ],
  [
    "two lines in each other's place",
    inLines((lines, at, pick) => {
      const other = pick(lines.length);
      return other === at
        ? null
        : lines.map(
            (line, index) => (index === at ? lines[other] : index === other ? lines[at] : line) ?? line,
          );
    }),
  ],
  [
    "a line of another chain",
    inLines((lines, at) => {
      const foreign = split(
        filesOf(chainOf([[callStep("foreign"), callStep("foreign too")]])).get(segmentName(1)) ??
          Buffer.alloc(0),
      );
      return [...lines.slice(0, at), ...foreign.slice(2), ...lines.slice(at)];
    }),
  ],
  ["an empty line", inLines((lines, at) => [...lines.slice(0, at), Buffer.from("\n"), ...lines.slice(at)])],
  [
    "lines after the last",
    (files, pick) => {
      const name = [...files.keys()].at(-1) ?? "";
      const bytes = files.get(name) ?? Buffer.alloc(0);
      const more = ["{}\n", "x", "\n", '{"entry":{}}\n', "\u0000".repeat(40)][pick(5)] ?? "";
      return new Map(files).set(name, Buffer.concat([bytes, Buffer.from(more)]));
    },
  ],
  [
    "a new segment with what is no receipt",
    (files) => new Map(files).set(segmentName(files.size + 1), Buffer.from("{}\n")),
  ],
  [
    "a lost tail",
    (files, pick) => {
      const kept = linesIn("", files);
      const last = pick(kept.length);
      const cut = new Map<string, Buffer>();
      for (const { file, bytes } of kept.slice(0, last))
        cut.set(file, Buffer.concat([cut.get(file) ?? Buffer.alloc(0), Buffer.from(bytes, "latin1")]));
      return cut;
    },
  ],
];

describe("a chain whose files were changed", () => {
  it.each(SPOILS)("is broken where it was: %s", (_, spoil) => {
    let found = 0;
    fc.assert(
      fc.property(appends, fc.boolean(), fc.infiniteStream(fc.nat()), (groups, signed, numbers) => {
        const folder = chainOf(groups, signed ? SIGNER : null);
        const before = filesOf(folder);
        const after = spoil(before, (count) => (count === 0 ? 0 : (numbers.next().value ?? 0) % count));
        if (after === null || sameFiles(before, after)) return;
        put(folder, after);
        const { broken, entries, notices } = verify(folder);
        if (isUnwritten(folder, before, after)) {
          expect({ broken, entries }).toEqual({ broken: null, entries: linesIn(folder, before).length });
          expect(notices).toEqual([expect.stringContaining("the tail is not written yet")]);
          return;
        }
        found += 1;
        expect(broken).toMatchObject(firstBroken(folder, before, after));
      }),
      RUNS,
    );
    expect(found).toBeGreaterThan(RUNS.numRuns / 4);
  });

  it("is broken whichever byte of it has changed", () => {
    const folder = chainOf([[callStep("a")], [callStep("b", "\uFFFD")]]);
    const file = join(folder, segmentName(1));
    const bytes = readFileSync(file);
    let line = 1;
    for (const [at, byte] of bytes.entries()) {
      const changed = Buffer.from(bytes);
      changed[at] = byte ^ (1 << (at % 8));
      writeFileSync(file, changed);
      expect(verify(folder).broken, `byte ${at}`).toMatchObject({ file, line });
      if (byte === 10) line += 1;
    }
    writeFileSync(file, bytes);
    expect(verify(folder)).toMatchObject({ broken: null, entries: 3, notices: [] });
  });

  it.each([
    ["a member more", (line: string) => line.replace('"line_hash":', '"extra":1,"line_hash":')],
    [
      "a member of another order",
      (line: string) => line.replace(/^\{("entry":.*?),("line_hash":"[0-9a-f]+")/, "{$2,$1"),
    ],
    ["a space more", (line: string) => line.replace('"entry":', '"entry": ')],
    ["an escape for a letter", (line: string) => line.replace('"tool"', '"t\\u006fol"')],
    ["a bad byte for U+FFFD", (line: string) => line.replace("\xEF\xBF\xBD", "\xFF")],
  ])("is broken although it means the same: %s", (_, change) => {
    const folder = chainOf([[callStep("a", "tool \uFFFD")], [callStep("b")]]);
    const file = join(folder, segmentName(1));
    const [first = "", second = "", third = ""] = split(readFileSync(file)).map((line) =>
      line.toString("latin1"),
    );
    expect(change(second)).not.toBe(second);
    writeFileSync(file, Buffer.from(first + change(second) + third, "latin1"));
    expect(verify(folder).broken).toMatchObject({ file, line: 2 });
  });

  it("is broken by a segment that is missing, wherever it was (case 124)", () => {
    const folder = newFolder();
    for (let index = 0; ; index++) {
      append(folder, [callStep(`c${index}`)]);
      const [last = Buffer.alloc(0), ...others] = [...filesOf(folder).values()].reverse();
      if (others.length > 4 && split(last).length === 2) break;
    }
    const files = filesOf(folder);
    const names = [...files.keys()];
    expect(names.length).toBeGreaterThan(4);
    for (const [index, name] of names.entries()) {
      put(folder, new Map([...files].filter(([other]) => other !== name)));
      const { broken } = verify(folder);
      const isLast = index === names.length - 1;
      expect(broken?.problem).toContain(isLast ? "the tail is lost" : `${name} is missing`);
      expect(broken?.file).toBe(isLast ? join(folder, names[index - 1] ?? "") : folder);
    }
  });

  it.each([
    ["removed", (file: string) => rmSync(file)],
    ["no JSON", (file: string) => writeFileSync(file, "torn")],
    [
      "another chain's",
      (file: string) => writeFileSync(file, readFileSync(newestHead(chainOf([[callStep("z")]])))),
    ],
  ])("is broken when all versions of its head are %s", (_, spoil) => {
    const folder = chainOf([[callStep("a")], [callStep("b")]]);
    for (const name of readdirSync(join(folder, "head"))) spoil(join(folder, "head", name));
    expect(verify(folder).broken).not.toBeNull();
  });
});

function sameFiles(before: Files, after: Files): boolean {
  return (
    before.size === after.size &&
    [...before].every(([name, bytes]) => after.get(name)?.equals(bytes) === true)
  );
}

function newestHead(folder: string): string {
  const names = readdirSync(join(folder, "head")).map((name) => Number.parseInt(name, 10));
  return join(folder, "head", `${Math.max(...names)}.json`);
}

describe("a chain that nobody touched", () => {
  it("verifies, over any number of segments, and each segment begins with the hash of the one before", () => {
    fc.assert(
      fc.property(appends, fc.boolean(), (groups, signed) => {
        const signer = signed ? SIGNER : null;
        const folder = chainOf(groups, signer);
        const ids = groups.flat().map(({ request }) => request.id);
        const receipts = receiptsIn(folder);
        expect(receipts.map(({ request }) => request.id)).toEqual([rootStep().request.id, ...ids]);
        receipts.slice(1).forEach(({ entry }, index) => {
          expect(entry.previous_hash).toBe(receipts[index]?.entry.entry_hash);
        });
        expect(verify(folder, signer)).toEqual({
          session: ACTOR.session,
          entries: ids.length + 1,
          signed: signed ? ids.length + 1 : 0,
          broken: null,
          notices: [],
        });
      }),
      RUNS,
    );
  });

  it("is rolled when a segment is full, and goes on after a restart right then (case 124)", () => {
    const folder = newFolder();
    let full = 0;
    for (let index = 0; index < 30; index++) {
      append(folder, [callStep(`c${index}`)]);
      full = filesOf(folder).size;
    }
    const sizes = [...filesOf(folder).values()].map(({ length }) => length);
    expect(full).toBeGreaterThan(5);
    expect(sizes.slice(0, -1).every((size) => size >= SEGMENT_BYTES && size < 2 * SEGMENT_BYTES)).toBe(true);
    expect(verify(folder)).toMatchObject({ broken: null, entries: 31, notices: [] });
  });

  it("is not what another key has signed, and none that is unsigned passes for signed", () => {
    const signed = chainOf([[callStep("a")]], SIGNER);
    const other = new Signer(Buffer.alloc(32, 8));
    expect(verify(signed, other).broken).toMatchObject({
      line: 1,
      problem: expect.stringContaining("not signed with a key that was given"),
    });
    expect(verify(chainOf([[callStep("a")]]), SIGNER).broken).toMatchObject({ line: 1 });
    expect(verify(chainOf([[callStep("a")]], SIGNER)).signed).toBe(2);
  });

  it("is no other session's", () => {
    const folder = chainOf([[callStep("a")]]);
    const other = "0c1fd7a2-6f0e-4f5e-9d3f-6a1f6b1f2a02";
    expect(verifyChain(folder, other, null, () => {}).broken?.problem).toContain("belongs to session");
  });
});

describe("a chain whose writer was killed", () => {
  it("is whole before the next receipt and after it, at whatever byte the writing stopped", () => {
    fc.assert(
      fc.property(appends, fc.boolean(), fc.nat(), (groups, signed, number) => {
        const signer = signed ? SIGNER : null;
        const folder = chainOf(groups, signer);
        const whole = filesOf(folder);
        const head = headCell(folder).read().value;
        if (head === null) throw new Error("no head");
        const size = head.start + (number % (head.end - head.start));
        if (size === 0) rmSync(join(folder, segmentName(head.segment)));
        else truncateSync(join(folder, segmentName(head.segment)), size);
        expect(verify(folder, signer)).toMatchObject({
          broken: null,
          entries: head.count,
          notices: [
            expect.stringMatching(/the tail is not written yet .* the next receipt mends it \(a killed hook/),
          ],
        });
        append(folder, [callStep("next")], signer);
        expect(verify(folder, signer)).toMatchObject({ broken: null, entries: head.count + 1, notices: [] });
        for (const [name, bytes] of whole) {
          expect(readFileSync(join(folder, name)).subarray(0, bytes.length).equals(bytes), name).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("goes on from its files when the latest heads were not kept, as after a power cut", () => {
    fc.assert(
      fc.property(appends, fc.integer({ min: 1, max: 3 }), (groups, lost) => {
        const folder = chainOf(groups);
        const { entries } = verify(folder);
        for (let version = 0; version < lost; version++) rmSync(newestHeadOrNone(folder), { force: true });
        const left = headCell(folder).read().value;
        if (left !== null && left.count < entries) {
          expect(verify(folder)).toMatchObject({
            broken: null,
            notices: [expect.stringContaining("newer than the head")],
          });
        }
        append(folder, [callStep("next")]);
        expect(verify(folder)).toMatchObject({ broken: null, entries: entries + 1, notices: [] });
      }),
      RUNS,
    );
  });

  it("keeps what its head holds when the file has lost more than that", () => {
    const folder = chainOf([[callStep("a")], [callStep("b")]]);
    truncateSync(join(folder, segmentName(1)), 10);
    expect(append(folder, [callStep("d")]).join()).toContain(
      "its tail is lost, and the chain goes on in a new file",
    );
    const kept = filesOf(folder).get(segmentName(2))?.toString() ?? "";
    expect(split(Buffer.from(kept))).toHaveLength(2);
    expect(verify(folder).broken).toMatchObject({ file: join(folder, segmentName(1)), line: 1 });
  });

  it("says so when it had not been going on for a while, and not of one that may be at it still", () => {
    const folder = chainOf([[callStep("a")], [callStep("b")]]);
    const file = join(folder, segmentName(1));
    const bytes = readFileSync(file);
    truncateSync(file, bytes.length - 5);
    expect(append(folder, [])).toEqual([]);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    truncateSync(file, bytes.length - 5);
    headCell(folder).update((head) => head && { ...head, at: head.at - 60_000 }, Date.now() + 1000);
    expect(append(folder, []).join()).toContain("torn or missing, and are written again");
  });

  it("may have left no more than a folder: it holds no receipt yet", () => {
    const folder = newFolder();
    mkdirSync(join(folder, "head"), { recursive: true });
    expect(verify(folder)).toMatchObject({
      broken: null,
      entries: 0,
      notices: [`${folder} holds no receipt yet`],
    });
    writeFileSync(join(folder, segmentName(1)), "");
    expect(verify(folder)).toMatchObject({ broken: null, entries: 0 });
  });
});

describe("steps that come again", () => {
  it("are recorded once, however they are mixed with others (case 56)", () => {
    fc.assert(
      fc.property(appends, fc.infiniteStream(fc.nat()), (groups, numbers) => {
        const folder = newFolder();
        for (const [index, steps] of groups.entries()) {
          append(folder, steps);
          append(folder, groups[(numbers.next().value ?? 0) % (index + 1)] ?? []);
        }
        const ids = receiptsIn(folder).map(({ request }) => request.id);
        expect(ids).toEqual([rootStep().request.id, ...groups.flat().map(({ request }) => request.id)]);
        expect(verify(folder)).toMatchObject({ broken: null, notices: [] });
      }),
      RUNS,
    );
  });

  it("are recorded once after 250 others, and after the head was lost", () => {
    const folder = chainOf([[callStep("first")]]);
    append(
      folder,
      Array.from({ length: 250 }, (_, index) => callStep(`c${index}`)),
    );
    append(folder, [callStep("first")]);
    expect(verify(folder)).toMatchObject({ broken: null, entries: 252 });
    rmSync(join(folder, "head"), { recursive: true });
    append(folder, [callStep("first"), callStep("c7")]);
    expect(receiptsIn(folder)).toHaveLength(252);
  });

  it("after more than are remembered leave a sound chain, which says that they came again", () => {
    const others = Array.from({ length: 300 }, (_, index) => callStep(`other${index}`));
    const folder = chainOf([[callStep("c1")], others, [callStep("c1")]]);
    const { broken, entries, notices } = verify(folder);
    expect({ broken, entries }).toEqual({ broken: null, entries: 303 });
    expect(notices).toEqual([expect.stringMatching(/is recorded again: its event came twice, long apart$/)]);
  });
});

function newestHeadOrNone(folder: string): string {
  return readdirSync(join(folder, "head")).length === 0 ? join(folder, "none") : newestHead(folder);
}
