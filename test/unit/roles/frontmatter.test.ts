import { afterEach, describe, expect, it } from "vitest";
import { FRONTMATTER_LIMITS } from "../../../src/roles/frontmatter-limits.ts";
import { agentText, parse, said } from "./agent-text.ts";

const GOOD = agentText("tools: Read, Grep", "maxTurns: 5");
const goodRole = parse(GOOD).role;

describe("the same file in other bytes gives the same role (cases 77, 78)", () => {
  it.each([
    ["CRLF", GOOD.replaceAll("\n", "\r\n")],
    ["CR", GOOD.replaceAll("\n", "\r")],
    ["line ends of all kinds", GOOD.replace("\n", "\r\n").replace("\nmax", "\rmax")],
    ["a byte order mark", `\uFEFF${GOOD}`],
    ["a byte order mark and CRLF", `\uFEFF${GOOD.replaceAll("\n", "\r\n")}`],
    ["blanks after the fences", GOOD.replaceAll("---", "---  ")],
    ["no line end at the end", GOOD.trimEnd()],
    ["no body", GOOD.replace("Do the task.\n", "")],
  ])("%s", (_what, text) => {
    expect(goodRole?.tools).toEqual(["Read", "Grep"]);
    expect(parse(text)).toEqual({ role: goodRole, problems: [] });
  });
});

describe("dashes that are no fence change nothing (case 93)", () => {
  it.each([
    ["in a value", agentText("tools: Read", "model: a --- b"), "a --- b"],
    ["at the end of a value", agentText("tools: Read", "model: a ---"), "a ---"],
    ["in a block scalar", agentText("tools: Read", "model: |-", "  a", "  ---", "  b"), "a\n---\nb"],
    ["in a quoted value", agentText("tools: Read", 'model: "---"'), "---"],
    ["in a comment", agentText("tools: Read", "# --- tools: Bash", "model: x"), "x"],
  ])("%s", (_what, text, model) => {
    const { role, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(role?.model).toBe(model);
    expect(role?.tools).toEqual(["Read"]);
  });

  it("keeps the body out of the keys, rules and further blocks included", () => {
    const body = "\n---\nname: other\ntools: Bash, Agent\n---\n---js\nx\n---\n";
    expect(parse(GOOD + body)).toEqual({ role: goodRole, problems: [] });
  });
});

describe("a text without frontmatter is no agent and only a warning (case 91)", () => {
  it.each([
    ["empty", ""],
    ["prose", "# Agents\n\nname: not-me\n"],
    ["prose with a rule and keys", "# Agents\n\n---\nname: x\ntools: Bash\n---\n"],
  ])("%s", (_what, text) => {
    expect(said(parse(text))).toEqual(["warning 1: no frontmatter, so no agent; skipped"]);
    expect(parse(text).role).toBeNull();
  });
});

describe("a fence that is not quite one is an error with its line (case 93)", () => {
  it.each([
    ["never closed", "---\nname: x\ntools: Read\n\nBody: text\n", 1, "never closed"],
    ["only the fence", "---", 1, "never closed"],
    ["closed by dashes and text", "---\nname: x\n---text\nbody\n", 3, "`---text` inside the frontmatter"],
    ["closed by four dashes", "---\nname: x\n----\nbody\n", 3, "`----` inside the frontmatter"],
    [
      "a document start inside",
      "---\nname: x\n--- # a\ntools: Read\n---\n",
      3,
      "three dashes and nothing else",
    ],
    ["text after the dashes", "---text\nname: x\n---text\n", 1, "`---text` is not understood"],
    ["four dashes", "----\nname: x\n----\n", 1, "`----` is not understood"],
    ["blank lines first", "\n\n---\nname: x\n---\n", 3, "move it to the start of line 1"],
    ["indented", "  ---\nname: x\n  ---\n", 1, "move it to the start of line 1"],
    ["two byte order marks", "\uFEFF\uFEFF---\nname: x\n---\n", 1, "move it to the start of line 1"],
  ])("%s", (_what, text, line, message) => {
    const { role, problems } = parse(text);
    expect(role).toBeNull();
    expect(problems).toEqual([
      { file: "probe.md", line, severity: "error", message: expect.stringContaining(message) },
    ]);
  });
});

describe("no other language is read, none is run (case 94)", () => {
  const marker = "__SPAWN_GUARD_TEST_RAN__";
  afterEach(() => Reflect.deleteProperty(globalThis, marker));

  it.each(["js", "javascript", " js", "JS", "coffee", "coffeescript", "cson", "json", "toml", "yaml"])(
    "---%s",
    (language) => {
      const { role, problems } = parse(
        `---${language}\n({ name: (globalThis.${marker} = 'x') })\n---\nbody\n`,
      );
      expect(Reflect.has(globalThis, marker)).toBe(false);
      expect(role).toBeNull();
      expect(problems).toMatchObject([{ severity: "error", line: 1 }]);
    },
  );

  it.each([
    ["an unknown tag", `model: !!js/function 'function () { globalThis.${marker} = 1 }'`],
    ["a foreign tag", "model: !!python/object/apply:os.system ['true']"],
    ["a local tag", "model: !x y"],
    ["a known tag", "model: !!str 5"],
    ["a tag deep inside", "hooks: {a: [{b: !!set {c}}]}"],
  ])("%s is an error", (_what, line) => {
    const { role, problems } = parse(agentText("tools: Read", line));
    expect(role).toBeNull();
    expect(problems).toMatchObject([{ severity: "error", line: 5, message: expect.stringContaining("tag") }]);
    expect(Reflect.has(globalThis, marker)).toBe(false);
  });
});

describe("YAML that does not parse names the line and the fix (cases 75, 76, 97, 98)", () => {
  it.each<[string, string[], number, string]>([
    ["colon and space", ["model: use for: x"], 4, "`model` has an unquoted `: `; quote the whole value"],
    ["colon at the end", ["model: Examples:", "<a>", "b: c"], 4, "`model` has an unquoted `: `; quote the"],
    ["dialogue with \\n", ['model: a\\nuser: "look"'], 4, "`model` has an unquoted `: `; quote the whole"],
    ["colon in an indented line below", ["model: a", "  user: b"], 5, "unquoted `: ` here; quote the whole"],
    ["colon in a tool's rule", ["tools: Bash(git log: *)"], 4, "`tools` has an unquoted `: `; quote"],
    ["unindented text below", ["model: a", "and more text", "color: red"], 5, "indent the lines of a value"],
    ["quoted, then more", ['model: "A" - more'], 4, '`model` opens with " and goes on after'],
    ["single-quoted, then more", ["model: 'A' or 'B'"], 4, "`model` opens with ' and goes on after"],
    ["apostrophe in single quotes", ["model: 'it's'"], 4, "`model` opens with ' and goes on after"],
    ["quote never closed", ['model: "abc', "color: red"], 4, '`model` opens with " and never closes it'],
    ["bracketed word first", ["model: [WIP] x"], 4, "`model` opens with [ and goes on after the ]; quote"],
    ["list never closed", ["tools: [Read, Grep"], 4, "`tools` opens with [ and never closes it"],
    ["at sign first", ["model: @me"], 4, "`model` opens with the character @"],
    ["backtick first", ["model: `x`"], 4, "`model` opens with the character `"],
    [
      "bare star",
      ["tools: *"],
      4,
      '`tools` has an unquoted `*`, which YAML reads as an alias; quote it: "*"',
    ],
    ["bare star in a list", ["tools: [Read, *]"], 4, "`tools` has an unquoted `*`"],
    ["tab before a list", ["tools:", "\t- Read"], 5, "indented with a tab"],
    ["blanks and a tab", ["tools:", "  \t- Read"], 5, "indented with a tab"],
    ["tab before text", ["model: a", "\tb"], 5, "indented with a tab"],
    ["a key twice", ["tools: Read", "tools: Read, Bash"], 5, "key `tools` stands more than once"],
    ["a key twice, once quoted", ["tools: Read", '"tools": Bash'], 5, "key `tools` stands more than once"],
    ["a key twice inside another", ["hooks:", "  a: 1", "  a: 2"], 6, "key `a` stands more than once"],
    ["keys after `...`", ["model: x", "...", "tools: Read"], 6, "remove it"],
    ["a directive", ["%YAML 1.1"], 4, "%YAML"],
    ["merge key", ["<<: {tools: [Read]}"], 4, "merge key `<<`"],
    ["alias", ["model: &m x", "effort: *m"], 5, "alias *m is not read"],
    ["alias of nothing", ["model: *m"], 4, "alias *m is not read"],
    ["merge by alias", ["base: &b {tools: [Read]}", "<<: *b"], 5, "alias *b is not read"],
  ])("%s", (_what, lines, line, message) => {
    const { role, problems } = parse(agentText(...lines));
    expect(role).toBeNull();
    expect(problems).toEqual([
      { file: "probe.md", line, severity: "error", message: expect.stringContaining(message) },
    ]);
  });

  it("finds the same line in a CRLF file", () => {
    const text = agentText("tools: Read", "model: a (see: b)");
    expect(said(parse(text.replaceAll("\n", "\r\n")))).toEqual(said(parse(text)));
    expect(said(parse(text))[0]).toMatch(/^error 5: value of `model`/);
  });

  it.each(["- a\n- b", "just text", '"quoted"', "[a, b]", "5"])("%j is no set of keys", (yaml) => {
    const { role, problems } = parse(`---\n${yaml}\n---\n`);
    expect(role).toBeNull();
    expect(problems).toMatchObject([{ severity: "error" }]);
  });

  it.each(["", "\n\n", "# a comment", "{}"])("frontmatter %j lacks a name", (yaml) => {
    expect(said(parse(`---\n${yaml}\n---\n`))).toContain("error 1: name is missing; add `name: my-agent`");
  });
});

describe("hostile sizes are refused at once (case 96)", () => {
  const bomb = ["l0: &l0 [x,x,x,x,x,x,x,x,x]"];
  for (let i = 1; i < 9; i += 1)
    bomb.push(
      `l${i}: &l${i} [${Array(9)
        .fill(`*l${i - 1}`)
        .join(",")}]`,
    );
  const { characters, lines, depth } = FRONTMATTER_LIMITS;

  it.each<[string, string[], string]>([
    ["alias bomb", bomb, "alias *l0"],
    ["5,000 brackets", [`x: ${"[".repeat(5000)}${"]".repeat(5000)}`], "levels deep"],
    ["65,000 open brackets", [`x: ${"[".repeat(65_000)}`], "levels deep"],
    ["65,000 open braces", [`x: ${"{".repeat(65_000)}`], "levels deep"],
    ["brackets over lines", [`x: ${"[\n ".repeat(depth + 1)}`], "levels deep"],
    ["brackets after stray closing ones", [`x: [${"]".repeat(1500)}${"[".repeat(1500)}`], "levels deep"],
    ["dashes", ["x:", `  ${"- ".repeat(30_000)}`], "levels deep"],
    ["question marks", ["? ".repeat(30_000)], "levels deep"],
    ["10,000 keys", [`x: {${Array.from({ length: 10_000 }, (_, i) => `k${i}`).join(",")}}`], "YAML tokens"],
    ["blank lines", ["\n".repeat(60_000)], "lines"],
    ["blank lines in a block scalar", ["model: |", "  \n".repeat(lines)], "lines"],
    ["a long description", [`model: "${"word ".repeat(600_000)}"`], `at most ${characters}`],
  ])("%s", { timeout: 5_000 }, (_what, extra, message) => {
    const text = agentText(...extra);
    const { role, problems } = parse(text);
    expect(role).toBeNull();
    expect(problems).toMatchObject([{ severity: "error", message: expect.stringContaining(message) }]);
  });

  it("reads what stays within the limits, brackets in quotes not counted", () => {
    const nested = `x: ${"[".repeat(depth)}${"]".repeat(depth)}`;
    const text = agentText("tools: Read", nested, `y: "${"[".repeat(200)}"`, `z: a${"[".repeat(200)}`);
    expect(said(parse(text))).toEqual([]);
  });

  it("counts frontmatter only: a large body is read past", () => {
    expect(parse(GOOD + "word\n".repeat(200_000))).toEqual({ role: goodRole, problems: [] });
  });
});

describe("keys that reach for prototypes are keys like any other (case 95)", () => {
  it.each<[string, string[]]>([
    ["__proto__", ["__proto__:", "  tools: [Agent]", "  polluted: true"]],
    ["constructor", ["constructor:", "  prototype:", "    polluted: true"]],
    ["__proto__ in a list", ["hooks: [{__proto__: {polluted: true}}]"]],
    ["quoted __proto__", ['"__proto__": {polluted: true, maxTurns: 1}']],
  ])("%s", (_what, lines) => {
    const { role, problems } = parse(agentText("tools: Read", ...lines));
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
    expect(problems).toEqual([]);
    expect(role).toEqual(parse(agentText("tools: Read")).role);
    expect(Object.getPrototypeOf(role)).toBe(Object.prototype);
  });
});

it("gives each call its own role: changing one does not change the next", () => {
  parse(GOOD).role?.tools?.push("Bash");
  expect(parse(GOOD).role?.tools).toEqual(["Read", "Grep"]);
});
