import { posix } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Capability, covers, isSubset } from "../../../src/acs/capability.ts";
import { capabilitiesOf } from "../../../src/acs/rule-capabilities.ts";
import { coversAll } from "../../../src/guard/tools/shrink.ts";
import { parseToolRule } from "../../../src/guard/tools/tool-rule.ts";

const tool = fc.constantFrom(
  "*",
  "Bash",
  "Task",
  "Agent",
  "Read",
  "R*",
  "mcp__a__*",
  "mcp__a__b",
  "mcp__*__b",
);
const words = fc.array(fc.constantFrom("git", " ", "log", "x", "*", "Qa-Eng", "qa_eng", "spawn-guard:"), {
  minLength: 1,
  maxLength: 3,
});
const operation = words.map((parts) => parts.join(""));
const segment = fc.constantFrom(
  "src",
  "src",
  "a",
  "A",
  "..",
  ".",
  "*",
  "s*",
  "%2e%2e",
  "%2E",
  "s%72c",
  "**",
  "",
);
const resource = fc
  .tuple(
    fc.constantFrom(
      "file:./",
      "file:./src/",
      "file:",
      "file:~/",
      "file:///",
      "file:/",
      "https://a.io/",
      "https://*/",
    ),
    fc.array(segment, { maxLength: 4 }),
  )
  .map(([start, segments]) => start + segments.join("/"));

function optional<Value>(values: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.option(values, { nil: undefined, freq: 3 });
}

const capability: fc.Arbitrary<Capability> = fc
  .tuple(optional(tool), optional(operation), optional(resource))
  .map(([named, done, place]) => ({
    ...(named === undefined ? {} : { tool: named }),
    ...(done === undefined ? {} : { operation: done }),
    ...(place === undefined ? {} : { resource: place }),
  }));
const capabilities = fc.array(capability, { maxLength: 4 });

/** A capability, and one made from it that may be narrower. */
const pair = fc
  .tuple(capability, capability, fc.constantFrom("", "x", "/a", "/../a", " log", "*"), fc.nat(7))
  .map(([outer, other, more, which]): [Capability, Capability] => {
    const grown = Object.entries(outer).map(([member, text], at) => {
      return [member, (which >> at) % 2 === 0 ? text : text.replace(/\*$/, "") + more];
    });
    return [outer, { ...other, ...Object.fromEntries(grown) }];
  });

type Done = { tool: string; operation: string; resource: string };

/** Something that a capability stands for: every star filled in with plain text. */
function example(of: Capability, filling: readonly string[]): Done {
  let at = 0;
  const filled = (text: string) => text.replace(/\*+/g, () => filling[at++ % filling.length] ?? "");
  return {
    tool: filled(of.tool ?? "*"),
    operation: filled(of.operation ?? "*"),
    resource: of.resource === undefined ? "db:any" : filled(of.resource),
  };
}

/** The same question asked in another way: with regular expressions, and places as paths on a disk. */
function standsFor(of: Capability, done: Done): boolean {
  const asTool = (text: string) => (text === "Task" ? "Agent" : text);
  return (
    matches(asTool(of.tool ?? "*"), asTool(done.tool)) &&
    (asTool(done.tool) === "Agent" ? isAgent : matches)(of.operation ?? "*", done.operation) &&
    isAt(of.resource ?? "*", done.resource)
  );
}

/** An agent of this plugin goes by two names. */
function isAgent(pattern: string, type: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace(/[\s_-]/g, "");
  const bare = plain(type).replace(/^spawnguard:/, "");
  return [bare, `spawnguard:${bare}`].some((name) => matches(plain(pattern), name));
}

/** A folder is at the start of what lies in it. */
function isAt(pattern: string, uri: string): boolean {
  if (/^(?:file:)?\*+$/.test(pattern)) return true;
  return ["", "/"].some((end) => matches(onDisk(pattern), onDisk(uri) + end));
}

function matches(pattern: string, text: string): boolean {
  const source = pattern.split(/\*+/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${source.join("[^]*")}$`).test(text);
}

function onDisk(uri: string): string {
  if (!uri.startsWith("file:")) {
    const [, host = "", path = ""] = /^(https:\/\/[^/]*|db:)(.*)$/.exec(decodeURIComponent(uri)) ?? [];
    return host + posix.normalize(`/${path}`);
  }
  const path = decodeURIComponent(uri.slice("file:".length)).replace(/^\/\/\//, "/");
  const start = path.startsWith("/") ? "/" : path.startsWith("~/") ? "/home/me/here" : "/srv/shop/main";
  return posix.normalize(`${start}/${path.replace(/^~\//, "")}`).replace(/(?<=.)\/$/, "");
}

const filling = fc.array(fc.constantFrom("a", "b/c", "", "git log", "Z"), { minLength: 1, maxLength: 3 });

describe("covers", () => {
  it("means that whatever the inner one stands for, the outer one stands for", () => {
    let covered = 0;
    fc.assert(
      fc.property(pair, filling, ([outer, inner], texts) => {
        if (!covers(outer, inner) || hasInnerStar({ resource: outer.resource ?? "" })) return;
        covered += 1;
        const done = example(inner, texts);
        expect({ done, within: standsFor(outer, done) }).toEqual({ done, within: true });
      }),
      { numRuns: 20_000 },
    );
    expect(covered).toBeGreaterThan(1000);
  });

  it("holds between a capability and itself, and from a star to each", () => {
    fc.assert(
      fc.property(capability, (one) => {
        expect([covers(one, one), covers({ tool: "*" }, one), covers({}, one)]).toEqual([true, true, true]);
        expect(covers({ tool: "*", operation: "*", resource: "*" }, one)).toBe(true);
      }),
    );
  });

  it("is handed on from one to the next", () => {
    let chains = 0;
    fc.assert(
      fc.property(pair, pair, ([outer, middle], [, other]) => {
        for (const inner of [other, { ...middle, ...other }, { ...other, ...middle }]) {
          if (!covers(outer, middle) || !covers(middle, inner)) continue;
          chains += 1;
          expect(covers(outer, inner)).toBe(true);
        }
      }),
      { numRuns: 20_000 },
    );
    expect(chains).toBeGreaterThan(500);
  });

  it("lets no path out of a folder", () => {
    let inside = 0;
    const path = fc.array(segment, { maxLength: 6 }).map((names) => `file:./src/${names.join("/")}`);
    fc.assert(
      fc.property(path, filling, (place, texts) => {
        if (!covers({ resource: "file:./src/*" }, { resource: place })) return;
        inside += 1;
        expect(`${onDisk(example({ resource: place }, texts).resource)}/`).toMatch(
          /^\/srv\/shop\/main\/src\//,
        );
      }),
      { numRuns: 10_000 },
    );
    expect(inside).toBeGreaterThan(1000);
  });
});

describe("isSubset", () => {
  it("loses nothing when the outer set grows or the inner one shrinks", () => {
    fc.assert(
      fc.property(capabilities, capabilities, capability, (outer, inner, more) => {
        const within = [...inner.filter((one) => isSubset(outer, [one]))];
        expect(isSubset([...outer, more], within)).toBe(true);
        expect(isSubset([more, ...outer], within.slice(1))).toBe(true);
        expect(isSubset(outer, inner)).toBe(within.length === inner.length);
      }),
      { numRuns: 3000 },
    );
  });
});

const command = fc
  .array(fc.constantFrom("git", "log", "-1", "x", "*"), { minLength: 1, maxLength: 3 })
  .chain((parts) => fc.constantFrom("", ":*", " *", "*").map((end) => parts.join(" ") + end));
const path = fc
  .tuple(
    fc.constantFrom("", "./", "/", "//", "~/"),
    fc.array(fc.constantFrom("src", "a b", "é.ts", ".", "*", "**", "*.ts", "?x"), { maxLength: 3 }),
    fc.constantFrom("", "/"),
  )
  .map(([start, names, end]) => start + names.join("/") + end);
const domain = fc.constantFrom("a.io", "*.a.io", "b.a.io", "*.b.a.io", "*").map((host) => `domain:${host}`);
const agent = fc.constantFrom("worker", "Worker", "spawn-guard:qa-engineer", "QA_engineer", "gov:worker");
const skill = fc.constantFrom("one", "/one", "one:*", "one:two", "one *");
const mcp = fc.constantFrom("a", "ab", "*", "a*", "*b", "a__b");
const listOf = (items: fc.Arbitrary<string>) => {
  return fc.array(items, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(", "));
};
const rule = fc.oneof(
  fc.constantFrom("*", "Bash", "Read", "Task", "Agent", "Skill", "WebFetch", "Agent()", "Bash(git", "Read*"),
  listOf(command).map((inside) => `Bash(${inside})`),
  listOf(path).map((inside) => `Read(${inside})`),
  listOf(agent).map((inside) => `Agent(${inside})`),
  listOf(domain).map((inside) => `WebFetch(${inside})`),
  listOf(skill).map((inside) => `Skill(${inside})`),
  fc.tuple(mcp, mcp).map(([server, named]) => `mcp__${server}__${named}`),
  mcp.map((server) => `mcp__${server}`),
);

function hasInnerStar(of: Capability): boolean {
  return Object.values(of).some((text) => /\*+[^*]/.test(text));
}

describe("the capabilities of tool rules", () => {
  it("are a subset wherever the rules are, but for patterns with a star that is not their end", () => {
    let covered = 0;
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 3 }), rule, (outer, inner) => {
        if (!coversAll(outer.map(parseToolRule), [parseToolRule(inner)]).ok) return;
        const [given, asked] = [capabilitiesOf(outer), capabilitiesOf([inner])];
        if (given.some(hasInnerStar)) return;
        covered += 1;
        expect(isSubset(given, asked)).toBe(true);
      }),
      { numRuns: 30_000 },
    );
    expect(covered).toBeGreaterThan(1000);
  });

  it("are each within themselves, whatever the text", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: "binary" }), rule)), (rules) => {
        const found = capabilitiesOf(rules);
        expect(isSubset(found, found)).toBe(true);
        expect(new Set(found.map((one) => JSON.stringify(one))).size).toBe(found.length);
      }),
      { numRuns: 3000 },
    );
  });
});
