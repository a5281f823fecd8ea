import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allows } from "../../../../src/guard/tools/allows.ts";
import { disallows } from "../../../../src/guard/tools/disallows.ts";
import { coversAll, intersect } from "../../../../src/guard/tools/shrink.ts";
import { parseToolRule, type ToolRule } from "../../../../src/guard/tools/tool-rule.ts";
import type { ToolUse } from "../../../../src/guard/tools/tool-use.ts";

const word = fc.constantFrom("git", "log", "diff", "-1", "x", "curl", "a,b", "'a b'");
const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" "));
const bashPattern = fc.oneof(
  phrase,
  phrase.map((text) => `${text}:*`),
  phrase.map((text) => `${text} *`),
  phrase.map((text) => `${text}*`),
  fc.array(fc.oneof(word, fc.constant("*")), { minLength: 1, maxLength: 4 }).map((words) => words.join(" ")),
);
const name = fc.constantFrom("src", "a", "b.ts", "*", "**", "*.ts", "?.ts", "shop");
const path = fc
  .tuple(fc.constantFrom("", "./", "/", "//", "~/", "//home/dev/shop/"), fc.array(name, { maxLength: 3 }))
  .map(([start, names]) => start + names.join("/"));
const type = fc.constantFrom("worker", "Worker", "spawn-guard:qa-engineer", "qa-engineer", "gov:worker", "*");
const domain = fc.constantFrom("a.io", "*.a.io", "b.a.io", "*.b.a.io", "*").map((host) => `domain:${host}`);
const skill = fc.constantFrom("one", "one:*", "one:two", "one *", "three");
const mcpPart = fc.constantFrom("a", "b", "*", "a*", "*b", "a__b");

function listOf(items: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(items, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(", "));
}

const pathTool = fc.constantFrom("Read", "Edit", "Write", "Grep", "Glob", "LS", "NotebookEdit");
const ruleText = fc.oneof(
  fc.constantFrom("*", "Bash", "Read", "Agent", "Task", "Skill", "WebFetch", "WebSearch", "Grep", "Bash(git"),
  listOf(bashPattern).map((inside) => `Bash(${inside})`),
  fc.tuple(pathTool, listOf(path)).map(([tool, inside]) => `${tool}(${inside})`),
  fc.tuple(fc.constantFrom("Agent", "Task"), listOf(type)).map(([tool, inside]) => `${tool}(${inside})`),
  listOf(domain).map((inside) => `WebFetch(${inside})`),
  listOf(skill).map((inside) => `Skill(${inside})`),
  fc.tuple(mcpPart, mcpPart).map(([server, tool]) => `mcp__${server}__${tool}`),
  mcpPart.map((server) => `mcp__${server}`),
);
const ruleSet = fc.array(ruleText, { maxLength: 4 }).map((texts) => texts.map(parseToolRule));

const command = fc
  .array(fc.tuple(phrase, fc.constantFrom(" && ", "; ", " | ", "\n", " ", " $(", ")", " > ", "", "*")), {
    minLength: 1,
    maxLength: 3,
  })
  .map((parts) => parts.map(([text, after]) => text + after).join(""));
const filePath = fc
  .tuple(
    fc.constantFrom("", "./", "/", "~/", "../", "/home/dev/shop/"),
    fc.array(fc.constantFrom("src", "a", "b.ts", "c.ts", "..", "shop", "x*"), { maxLength: 4 }),
  )
  .map(([start, names]) => start + names.join("/"));
const use = fc.oneof(
  command.map((text) => called("Bash", { command: text })),
  fc.tuple(pathTool, filePath).map(([tool, text]) => {
    return called(tool, { file_path: text, path: text, notebook_path: text, pattern: "**" });
  }),
  fc
    .tuple(fc.constantFrom("Agent", "Task"), type)
    .map(([tool, text]) => called(tool, { subagent_type: text })),
  fc
    .constantFrom("a.io", "b.a.io", "c.b.a.io", "x.io")
    .map((host) => called("WebFetch", { url: `https://${host}/` })),
  fc.constantFrom("one", "one:two", "three").map((text) => called("Skill", { skill: text })),
  fc.tuple(mcpPart, mcpPart).map(([server, tool]) => called(`mcp__${server}__${tool}`, {})),
  fc
    .constantFrom("WebSearch", "ToolSearch", "TaskCreate", "StructuredOutput")
    .map((tool) => called(tool, {})),
);

function called(tool: string, input: Record<string, unknown>): ToolUse {
  return { tool, input, cwd: "/home/dev/shop/src", projectDir: "/home/dev/shop", home: "/home/dev" };
}

function allowed(rules: readonly ToolRule[], call: ToolUse): boolean {
  return allows(rules, call).allowed;
}

describe("intersect", () => {
  it("allows nothing that one of both does not allow", () => {
    let both = 0;
    fc.assert(
      fc.property(
        ruleSet,
        ruleSet,
        fc.array(use, { minLength: 20, maxLength: 20 }),
        (outer, inner, calls) => {
          const shared = intersect(outer, inner).map(parseToolRule);
          for (const call of calls) {
            if (!allowed(shared, call)) continue;
            both += 1;
            expect([allowed(outer, call), allowed(inner, call)]).toEqual([true, true]);
          }
        },
      ),
      { numRuns: 3000 },
    );
    expect(both).toBeGreaterThan(500);
  });

  it("is within the outer set, and gives back what is wholly within", () => {
    fc.assert(
      fc.property(ruleSet, ruleSet, (outer, inner) => {
        const shared = intersect(outer, inner).map(parseToolRule);
        expect(coversAll(outer, shared)).toEqual({ ok: true });
        expect(coversAll(inner, shared)).toEqual({ ok: true });
        if (coversAll(outer, inner).ok) expect(shared).toEqual(uniqueByText(inner));
      }),
      { numRuns: 3000 },
    );
  });
});

function uniqueByText(rules: readonly ToolRule[]): ToolRule[] {
  return [...new Map(rules.map((rule) => [rule.text, rule])).values()];
}

describe("coversAll", () => {
  it("implies that what the inner set allows, the outer set allows", () => {
    let covered = 0;
    fc.assert(
      fc.property(
        ruleSet,
        fc.array(ruleText, { minLength: 1, maxLength: 2 }),
        fc.array(use, { minLength: 20, maxLength: 20 }),
        (outer, texts, calls) => {
          const inner = texts.map(parseToolRule);
          if (!coversAll(outer, inner).ok) return;
          covered += 1;
          for (const call of calls) if (allowed(inner, call)) expect(allowed(outer, call)).toBe(true);
        },
      ),
      { numRuns: 5000 },
    );
    expect(covered).toBeGreaterThan(300);
  });

  it("holds between a readable set and itself", () => {
    fc.assert(
      fc.property(ruleSet, (rules) => {
        const readable = rules.filter((rule) => rule.kind !== "unreadable");
        expect(coversAll(readable, readable)).toEqual({ ok: true });
      }),
    );
  });
});

describe("whatever the input,", () => {
  const shellText = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          ..."'\"`$(){}<>|&;#\\\n*=! ~[]",
          "$(",
          "<<E\n",
          "E\n",
          "${",
          "claude ",
          "git log ",
          "&&",
        ),
        fc.string({ unit: "grapheme", maxLength: 3 }),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(""));
  const anyText = fc.oneof(fc.string({ unit: "binary" }), ruleText, shellText);
  const anyUse = fc.record({
    tool: fc.oneof(anyText, fc.constantFrom("Bash", "Read", "Grep", "Glob", "WebFetch", "Agent", "Skill")),
    input: fc.dictionary(
      fc.constantFrom(
        "command",
        "file_path",
        "path",
        "pattern",
        "url",
        "skill",
        "subagent_type",
        "__proto__",
      ),
      fc.oneof(anyText, fc.anything()),
    ),
    cwd: fc.oneof(anyText, filePath),
    projectDir: fc.oneof(anyText, filePath),
    home: fc.oneof(anyText, filePath),
  });
  const anyRules = fc.array(
    fc.oneof(
      anyText,
      anyText.map((text) => `Bash(${text})`),
      ruleText,
    ),
    { maxLength: 4 },
  );

  it("nothing throws", () => {
    fc.assert(
      fc.property(anyRules, anyRules, anyUse, (outer, inner, call) => {
        const [wide, narrow] = [outer.map(parseToolRule), inner.map(parseToolRule)];
        allows(wide, call);
        disallows(wide, call);
        coversAll(wide, narrow);
        intersect(wide, narrow).map(parseToolRule);
      }),
      { numRuns: 5000 },
    );
  });

  it("a command that a Bash pattern allows has no substitution, group, background job or file redirection", () => {
    const rules = [parseToolRule("Bash(git log:*)")];
    fc.assert(
      fc.property(shellText, (text) => {
        const line = `git log ${text}`;
        if (!allowed(rules, called("Bash", { command: line }))) return;
        const bare = line.replace(/\\[\s\S]|'[^']*'|"(?:\\[\s\S]|[^"\\])*"|(?<=^|[\s;&|])#.*/gm, "");
        expect(bare).not.toMatch(/[`()]|<<|(?<!&)&(?![&>\d-])/);
        for (const part of bare.split(/&&|\|\||[;|\n]/)) expect(part.trim()).toMatch(/^(?:git log|$)/);
      }),
      { numRuns: 5000 },
    );
  });

  it("a deny of a command holds wherever the command stands", () => {
    const rules = [parseToolRule("Bash(curl:*)")];
    const places = [
      "@",
      "true && @",
      "(@)",
      "x=$(@)",
      "echo `@`",
      "timeout 5 @",
      "if @; then true; fi",
      "@ > o",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), phrase, (place, rest) => {
        const line = place.replace("@", `curl ${rest}`);
        expect(disallows(rules, called("Bash", { command: line })).denied).toBe(true);
      }),
    );
  });

  it("long and hostile texts are judged, not hung on", () => {
    const stars = parseToolRule(`Bash(${"* a ".repeat(200)}b)`);
    const deep = parseToolRule(`Read(${"**/a/".repeat(200)}b)`);
    expect(allows([stars], called("Bash", { command: "x a ".repeat(5000) })).allowed).toBe(false);
    expect(allows([deep], called("Read", { file_path: "a/".repeat(5000) })).allowed).toBe(false);
    for (const piece of ["$(", "`", '"$(', "(", "<<E ", "${", "bash -c '", "env ", "a;", "\\"]) {
      const line = piece.repeat(20_000);
      expect(allows([parseToolRule("Bash(git:*)")], called("Bash", { command: line })).allowed).toBe(false);
      disallows([parseToolRule("Bash(git:*)")], called("Bash", { command: line }));
    }
  });
});
