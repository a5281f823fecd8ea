import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAgentFile } from "../../../src/roles/agent-file.ts";
import type { AgentFile } from "../../../src/roles/role.ts";

const parse = (text: string) => parseAgentFile(text, "x.md", "project");
const file = (...lines: string[]) =>
  ["---", "name: x", "description: d", ...lines, "---", "Body.", ""].join("\n");

const PLAIN = "Read, Grep, Glob, Bash, Write, mcp__docs__*, Agent, Task".split(", ");
const RULES = [
  "Bash(git diff:*, git log:*)",
  "Read(/docs/**)",
  "Agent(a, b)",
  "Task(p:a)",
  "Bash(echo don't)",
];
const tool = fc.constantFrom(...PLAIN, ...RULES);

/** Text that is likely to be near something: fences, keys, YAML signs, line ends. */
const scrap = fc.oneof(
  fc.constantFrom(
    ...[
      "---\n",
      "\n---",
      "---js\n",
      "\r\n",
      "\r",
      "\n",
      "\t",
      "  ",
      "\uFEFF",
      "name: x\n",
      "tools:",
      "tools: Read\n",
    ],
    ...[
      "tools: [Read, ",
      "- Bash\n",
      "disallowedTools: Bash\n",
      "maxTurns: 5\n",
      "description: |\n",
      "...\n",
      "%YAML 1.1\n",
    ],
    ...[
      "*",
      "&a ",
      "*a",
      "!!js/function ",
      "<<: ",
      "__proto__: ",
      "[",
      "]",
      "{",
      "}",
      "(",
      ")",
      '"',
      "'",
      "#",
      ": ",
      ",",
    ],
  ),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);
const scraps = fc.array(scrap, { maxLength: 40 }).map((parts) => parts.join(""));
const nearlyGood = fc.tuple(fc.nat(), fc.nat({ max: 12 }), scrap).map(([at, cut, added]) => {
  const text = file(
    "tools:",
    "  - Read",
    "  - Bash(git log:*)",
    "disallowedTools: Write, Agent",
    "maxTurns: 5",
  );
  const from = at % text.length;
  return text.slice(0, from) + added + text.slice(from + cut);
});
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  scraps,
  scraps.map((text) => `---\n${text}\n---\n`),
  nearlyGood,
);

describe("any text", () => {
  it("gives a role or says why not, and never throws", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const { role, problems } = parse(text);
        const lines = text.split(/\r\n?|\n/).length;
        for (const problem of problems) {
          expect(problem.line).toBeGreaterThanOrEqual(1);
          expect(problem.line).toBeLessThanOrEqual(lines);
          expect(problem.message).not.toBe("");
        }
        if (role === null) expect(problems).not.toEqual([]);
        else expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
      }),
      { numRuns: 3000 },
    );
  });

  it("never gives a role more than its text says", () => {
    fc.assert(
      fc.property(fc.oneof(nearlyGood, anyText), (text) => {
        const { role } = parse(text);
        if (role === null) return;
        // what stands in the frontmatter; a tool from anywhere else would be a right out of nothing
        const block = text.replace(/\r\n?/g, "\n").split(/\n---[ \t]*(?=\n|$)/)[0] ?? "";
        for (const name of role.tools ?? []) {
          for (const word of name.split(/\s+/)) expect(block).toContain(word);
        }
        if (role.tools === null) expect(block).not.toMatch(/^tools:[ \t]*\n( {2})?- |^tools: *\[?[A-Z]/m);
      }),
      { numRuns: 3000 },
    );
  });

  it("leaves Object.prototype as it was", () => {
    const before = Object.getOwnPropertyNames(Object.prototype).sort();
    fc.assert(
      fc.property(fc.constantFrom("__proto__", "constructor", "prototype"), scraps, (key, value) => {
        parse(file(`${key}: {tools: [Bash], ${key}: {polluted: 1}}`, value));
        expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before);
      }),
    );
  });

  it("reads the same with LF, CRLF and CR, with and without a byte order mark", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const lf = text.replace(/^\uFEFF+/, "").replace(/\r\n?/g, "\n");
        const expected = parse(lf);
        expect(parse(lf.replaceAll("\n", "\r\n"))).toEqual(expected);
        expect(parse(lf.replaceAll("\n", "\r"))).toEqual(expected);
        expect(parse(`\uFEFF${lf}`)).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a tool list", () => {
  const toolsOf = ({ role, problems }: AgentFile) => ({ tools: role?.tools, problems });

  it("is the same in all spellings, whatever follows in the body", () => {
    fc.assert(
      fc.property(fc.array(tool, { minLength: 1, maxLength: 8 }), scraps, (tools, body) => {
        const expected = { tools: [...new Set(tools)], problems: [] };
        const quoted = tools.map((name) => JSON.stringify(name));
        const spellings = [
          [`tools: ${tools.join(", ")}`],
          [`tools: ${tools.join(",")}`],
          [`tools: ${JSON.stringify(tools.join(" , "))}`],
          [`tools: [${quoted.join(", ")}]`],
          [`tools: [${tools.join(", ")}]`],
          ["tools:", ...quoted.map((name) => `  - ${name}`)],
          ["tools:", ...tools.map((name) => `- ${name}`)],
        ];
        for (const lines of spellings) expect(toolsOf(parse(file(...lines) + body))).toEqual(expected);
      }),
    );
  });

  it("is refused, not shortened, when one of its brackets is lost", () => {
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 4 }), fc.constantFrom(...RULES), (tools, rule) => {
        const lost = rule.slice(0, -1);
        const { role, problems } = parse(file(`tools: ${JSON.stringify([...tools, lost].join(", "))}`));
        expect(role).toBeNull();
        expect(problems).toMatchObject([{ severity: "error", line: 4 }]);
      }),
    );
  });
});
