import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LedgerBusy } from "../../../src/ledger/cell.ts";
import { checksum } from "../../../src/ledger/checksum.ts";
import { type CountingCell, cells } from "./cells.ts";

const newCell = cells();
const signed = (body: string) => `${checksum(body)} ${body}`;

describe("a cell", () => {
  it("has no value, and nothing lost, before the first change", () => {
    expect(newCell().cell.read()).toEqual({ value: null, lost: false });
  });

  it("keeps what the last change left, and only a few versions of it", () => {
    const at = newCell();
    at.count(50);
    expect(at.cell.read()).toEqual({ value: { count: 50 }, lost: false });
    expect(at.names()).toEqual(["47.json", "48.json", "49.json", "50.json"]);
  });

  it("writes nothing when a change leaves things as they are", () => {
    const at = newCell();
    at.count(2);
    expect(at.cell.update(() => null, 0)).toEqual({ count: 2 });
    expect(at.names()).toEqual(["1.json", "2.json"]);
  });

  it("keeps its folder and files to the user", () => {
    const at = newCell();
    at.increment();
    expect(statSync(at.folder).mode & 0o777).toBe(0o700);
    expect(statSync(at.newest()).mode & 0o777).toBe(0o600);
  });

  it("makes a change again on what somebody else committed in between", () => {
    const at = newCell();
    at.count(1);
    let tries = 0;
    at.cell.update((value) => {
      tries += 1;
      if (tries <= 3) at.increment();
      return { count: (value?.count ?? 0) + 1 };
    }, Date.now() + 5000);
    expect(tries).toBe(4);
    expect(at.cell.read().value).toEqual({ count: 5 });
  });

  it("gives up with LedgerBusy when others are first until the deadline", () => {
    const at = newCell();
    const change = () =>
      at.cell.update((value) => {
        at.increment();
        return { count: (value?.count ?? 0) + 1 };
      }, Date.now() - 1);
    expect(change).toThrow(LedgerBusy);
    expect(at.cell.read().value).toEqual({ count: 1 });
  });

  // One process reads, sleeps while others commit, and goes on: its number may be taken, or be free again.
  it.each([1, 2, 3, 4, 5, 6, 9, 20])("loses nothing of %i changes that a slow one slept through", (slept) => {
    const at = newCell();
    at.count(3);
    let first = true;
    at.cell.update((value) => {
      if (first) {
        first = false;
        at.count(slept);
      }
      return { count: (value?.count ?? 0) + 1 };
    }, Date.now() + 5000);
    expect(at.cell.read()).toEqual({ value: { count: 3 + slept + 1 }, lost: false });
  });

  it.each([1, 3, 4, 5, 9])(
    "tells of the loss when the last of %i changes that a slow one slept through is damaged",
    (slept) => {
      const at = newCell();
      at.count(3);
      let first = true;
      const losses: boolean[] = [];
      at.cell.update((value, lost) => {
        if (first) {
          first = false;
          at.count(slept);
          writeFileSync(at.newest(), "torn");
          at.open().read();
        } else losses.push(lost);
        return { count: (value?.count ?? 0) + 1 };
      }, Date.now() + 5000);
      expect(losses.at(-1)).toBe(true);
      // All but the damaged change are there: the older sound version was taken.
      expect(at.cell.read()).toEqual({ value: { count: 3 + slept }, lost: false });
    },
  );
});

const SOUND = signed('{"count":7}');
const DAMAGE: [string, string | Uint8Array][] = [
  ["empty", ""],
  ["cut short", SOUND.slice(0, -3)],
  ["cut to one byte", SOUND.slice(0, 1)],
  ["without its checksum", '{"count":7}'],
  ["doubled", SOUND + SOUND],
  ["followed by an older tail", `${SOUND}"count":2}`],
  ["all NULs", new Uint8Array(64)],
  ["NULs after the text", `${SOUND}\0\0\0\0`],
  ["no UTF-8", Uint8Array.from([0xff, 0xfe, 0x00, 0x7b])],
  ["no JSON", signed("{count:7}")],
  ["null", signed("null")],
  ["a list", signed("[7]")],
  ["of another shape", signed('{"counts":7}')],
  ["negative", signed('{"count":-1}')],
  ["too large for a number", signed('{"count":1e999}')],
  ["beyond whole numbers", signed('{"count":9007199254740992}')],
  ["no whole number", signed('{"count":1.5}')],
  ["a number in quotes", signed('{"count":"7"}')],
];

describe("a damaged newest version", () => {
  it.each(DAMAGE)("that is %s is noticed, set aside once, and the older sound one counts", (_, bytes) => {
    const at = newCell();
    at.count(6);
    at.put("7.json", bytes);
    expect(at.cell.read()).toEqual({ value: { count: 6 }, lost: true });
    for (let again = 0; again < 20; again++) {
      expect(at.open().read()).toEqual({ value: { count: 6 }, lost: true });
    }
    expect(at.damaged).toEqual([join(at.folder, "7.json")]);
    expect(at.names()).toEqual(["3.json", "4.json", "5.json", "6.json", "7.json.damaged"]);
  });

  it.each(DAMAGE)("that is %s is told to the next change, and forgotten after it", (_, bytes) => {
    const at = newCell();
    at.count(6);
    at.put("7.json", bytes);
    const told: boolean[] = [];
    at.cell.update((value, lost) => {
      told.push(lost);
      return { count: (value?.count ?? 0) + 10 };
    }, Date.now() + 5000);
    expect(told).toEqual([true]);
    expect(at.cell.read()).toEqual({ value: { count: 16 }, lost: false });
    expect(at.names()).toContain("8.json");
  });

  it("stays told when a sleeper takes its number and is killed before it notices", () => {
    const at = newCell();
    at.count(6);
    at.put("6.json.damaged", "torn");
    expect(at.cell.read()).toEqual({ value: { count: 6 }, lost: true });
  });

  it("is noticed whichever bit of it has flipped", () => {
    const at = newCell();
    at.count(6);
    const sound = at.bytes();
    const unnoticed: string[] = [];
    for (let position = 0; position < sound.length; position++) {
      for (let bit = 0; bit < 8; bit++) {
        const flipped = Buffer.from(sound);
        flipped[position] = (flipped[position] ?? 0) ^ (1 << bit);
        at.put("6.json", flipped);
        const { value, lost } = at.cell.read();
        if (value?.count !== 5 || !lost) unnoticed.push(`bit ${bit} of byte ${position}`);
      }
    }
    expect(unnoticed).toEqual([]);
  });
});

describe("a version that was read", () => {
  it("is not read again, and the next one is", () => {
    const at = newCell();
    at.count(1);
    expect(at.cell.read()).toEqual({ value: { count: 1 }, lost: false });
    at.put("1.json", "damaged since");
    expect(at.cell.read()).toEqual({ value: { count: 1 }, lost: false });
    at.put("1.json", "");
    expect(at.open().read()).toEqual({ value: null, lost: true });
    at.increment();
    expect(at.cell.read()).toEqual({ value: { count: 1 }, lost: false });
  });
});

describe("when every version is damaged", () => {
  it("there is no value, and that is told, not read as a beginning", () => {
    const at = newCell();
    at.count(6);
    for (const name of at.names()) at.put(name, "");
    expect(at.cell.read()).toEqual({ value: null, lost: true });
    expect(at.cell.read()).toEqual({ value: null, lost: true });
    expect(at.damaged).toHaveLength(4);
    const seen: unknown[] = [];
    at.cell.update((value, lost) => {
      seen.push([value, lost]);
      return { count: 100 };
    }, Date.now() + 5000);
    expect(seen).toEqual([[null, true]]);
    expect(at.cell.read()).toEqual({ value: { count: 100 }, lost: false });
  });
});

describe("what does not belong into a cell's folder", () => {
  const LEFTOVERS: [string, (at: CountingCell) => void][] = [
    ["a lock file of a dead process", (at) => at.put("lock", "999999\n1700000000000")],
    ["an empty lock file", (at) => at.put("session.lock", "")],
    ["a lock that is a folder", (at) => mkdirSync(join(at.folder, "lock"))],
    ["a lock folder beside a version", (at) => mkdirSync(join(at.folder, "7.json.lock"))],
    ["an editor's copy", (at) => at.put("6.json~", "x")],
    ["a number with a zero before it", (at) => at.put("007.json", signed('{"count":99}'))],
    [
      "a number too large to count on",
      (at) => at.put("99999999999999999999999.json", signed('{"count":99}')),
    ],
    ["a temporary folder", (at) => mkdirSync(join(at.folder, "tmp-1-x"))],
  ];

  it.each(LEFTOVERS)("%s changes nothing", (_, leave) => {
    const at = newCell();
    at.count(6);
    leave(at);
    expect(at.cell.read()).toEqual({ value: { count: 6 }, lost: false });
    expect(at.increment()).toEqual({ count: 7 });
    expect(at.cell.read()).toEqual({ value: { count: 7 }, lost: false });
  });

  const NO_FILES: [string, (file: string) => void][] = [
    ["a folder", (file) => mkdirSync(file)],
    ["a folder with something in it", (file) => mkdirSync(join(file, "x"), { recursive: true })],
    ["a link to nowhere", (file) => symlinkSync("nowhere", file)],
    ["a link to itself", (file) => symlinkSync("7.json", file)],
    ["a pipe that nobody writes to", (file) => execFileSync("mkfifo", [file])],
  ];

  it.each(NO_FILES)("%s in a version's place is damage", (_, make) => {
    const at = newCell();
    at.count(6);
    make(join(at.folder, "7.json"));
    expect(at.cell.read()).toEqual({ value: { count: 6 }, lost: true });
    expect(at.increment()).toEqual({ count: 7 });
    expect(at.cell.read()).toEqual({ value: { count: 7 }, lost: false });
  });

  it.each(NO_FILES)("%s where a version is set aside hinders nothing", (_, make) => {
    const at = newCell();
    at.count(6);
    make(join(at.folder, "7.json.damaged"));
    at.put("7.json", "torn");
    expect(at.cell.read()).toEqual({ value: { count: 6 }, lost: true });
    expect(at.increment()).toEqual({ count: 7 });
    expect(at.cell.read()).toEqual({ value: { count: 7 }, lost: false });
  });

  it("a version number that no number can follow is refused, not wrapped", () => {
    const at = newCell();
    at.put(`${Number.MAX_SAFE_INTEGER}.json`, signed('{"count":6}'));
    expect(() => at.increment()).toThrow(/no version can follow/);
  });

  it("temporary files of killed processes are swept, those of running ones stay", () => {
    const at = newCell();
    at.count(1);
    at.put("tmp-1-killed", "half");
    at.put("tmp-2-writing", "half");
    const before = new Date(Date.now() - 120_000);
    utimesSync(join(at.folder, "tmp-1-killed"), before, before);
    at.cell.read();
    expect(at.names()).toEqual(["1.json", "tmp-2-writing"]);
  });

  it("its own temporary files are gone after every change, won or lost", () => {
    const at = newCell();
    let first = true;
    at.cell.update((value) => {
      if (first) at.increment();
      first = false;
      return { count: (value?.count ?? 0) + 1 };
    }, Date.now() + 5000);
    expect(at.names()).toEqual(["1.json", "2.json"]);
  });
});

describe("a cell whose folder is removed", () => {
  it("begins anew at the next change", () => {
    const at = newCell();
    at.count(3);
    renameSync(at.folder, `${at.folder}-gone`);
    expect(existsSync(at.folder)).toBe(false);
    expect(at.cell.read()).toEqual({ value: null, lost: false });
    expect(at.increment()).toEqual({ count: 1 });
  });
});

it("a change that others built on while its process slept is not made again", () => {
  // The process is put to sleep between its link and its look around, by others' commits in that very place.
  const at = newCell();
  at.count(3);
  let times = 0;
  const sleeper = at.open();
  const versions = Reflect.get(sleeper, "versions").bind(sleeper);
  let slept = false;
  Reflect.set(sleeper, "versions", () => {
    if (times > 0 && !slept) {
      slept = true;
      at.count(6);
    }
    return versions();
  });
  sleeper.update((value) => {
    times += 1;
    return { count: (value?.count ?? 0) + 100 };
  }, Date.now() + 5000);
  expect(times).toBe(1);
  expect(at.cell.read().value).toEqual({ count: 3 + 100 + 6 });
});

// A reader lists the versions, sleeps, and then reads one that was deleted and whose number a sleeper took for a moment.
it.each([1, 3, 4, 5, 6, 9])(
  "a reader that slept through %i changes reads no value that never counted",
  (slept) => {
    const at = newCell();
    at.count(3);
    const reader = at.open();
    const versions = Reflect.get(reader, "versions").bind(reader);
    let listings = 0;
    Reflect.set(reader, "versions", () => {
      const listed = versions();
      listings += 1;
      if (listings === 1) {
        at.count(slept);
        if (!at.names().includes("3.json"))
          at.put("3.json", signed('{"marks":["other"],"value":{"count":77}}'));
      }
      return listed;
    });
    expect([3, 3 + slept]).toContain(reader.read().value?.count);
    expect(reader.read()).toEqual({ value: { count: 3 + slept }, lost: false });
  },
);
