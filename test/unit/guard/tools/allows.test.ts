import { describe, expect, it } from "vitest";
import { allows } from "../../../../src/guard/tools/allows.ts";
import { HAND_IN_TOOLS } from "../../../../src/guard/tools/hand-in-tools.ts";
import { parseToolRule } from "../../../../src/guard/tools/tool-rule.ts";
import type { ToolUse } from "../../../../src/guard/tools/tool-use.ts";
import { bash, call } from "./call.ts";

function allowed(rules: string[], use: ToolUse): boolean {
  return allows(rules.map(parseToolRule), use).allowed;
}

function why(rules: string[], use: ToolUse): string {
  const answer = allows(rules.map(parseToolRule), use);
  return answer.allowed ? "allowed" : answer.why;
}

describe("tools by name", () => {
  it.each([
    [["*"], "Anything", true],
    [["Read"], "Read", true],
    [["Read"], "read", false],
    [["Read"], "Grep", false],
    [["Edit"], "Write", false],
    [["Write"], "NotebookEdit", false],
    [["Task"], "Agent", true],
    [["Agent"], "Task", true],
    [["Agent"], "TaskCreate", false],
    [["Task"], "TaskList", false],
    [["Task"], "TaskStop", false],
    [["TaskCreate"], "Agent", false],
    [["Read"], "TodoWrite", false],
    [["mcp__docs"], "mcp__docs__search", true],
    [["mcp__docs"], "mcp__docs__a__b", true],
    [["mcp__docs"], "mcp__docs2__search", false],
    [["mcp__docs"], "mcp__docs", false],
    [["mcp__docs__*"], "mcp__docs__search", true],
    [["mcp__docs__*"], "mcp__docs_two__search", false],
    [["mcp__docs__s*"], "mcp__docs__search", true],
    [["mcp__docs__s*"], "mcp__docs__get", false],
    [["mcp__*__search"], "mcp__docs__search", true],
    [["mcp__*__search"], "mcp__docs__research", false],
    [["mcp__*__search"], "mcp__docs__a__search", false],
    [["mcp__plugin_gov_store__get_item"], "mcp__plugin_gov_store__get_item", true],
    [["mcp__plugin_gov_store__get_item"], "mcp__plugin_gov_store__get_items", false],
    [["mcp__store"], "mcp__plugin_gov_store__get_item", false],
    [["Read", "mcp__docs"], "ToolSearch", true],
    [["WebSearch"], "ToolSearch", true],
    [["Read", "Bash(git log:*)", "Agent(a)"], "ToolSearch", false],
    [["Web*"], "WebFetch", false],
    [[], "Read", false],
  ])("%j for %s: %s", (rules, tool, expected) => {
    expect(allowed(rules, call(tool))).toBe(expected);
  });

  it.each(HAND_IN_TOOLS)("%s hands in a result and is always allowed", (tool) => {
    expect(allowed([], call(tool))).toBe(true);
  });

  it("an unreadable rule allows nothing and the reason says so", () => {
    expect(why(["Bash(git log:*"], bash("git log"))).toMatch(/not closed, so it allows nothing/);
    expect(why(["WebSearch(cats)"], call("WebSearch", { query: "cats" }))).toMatch(
      /no patterns are evaluated/,
    );
  });
});

describe("Bash patterns allow, as the host does,", () => {
  it.each([
    ["Bash(git log:*)", "git log"],
    ["Bash(git log:*)", "git log -1 --format='%h; %s'"],
    ["Bash(git log:*)", 'git log --grep="a && b | c > d"'],
    ["Bash(git log:*)", "  git log  "],
    ["Bash(git log:*)", "git log && git log -2; git log || git log | git log\ngit log\n"],
    ["Bash(git log:*)", "git log &&\n  git log"],
    ["Bash(git log:*)", "git log \\\n  --oneline"],
    ["Bash(git log:*)", "git log > /dev/null 2>&1"],
    ["Bash(git log:*)", "git log 2>/dev/null"],
    ["Bash(git log:*)", "git log &>/dev/null"],
    ["Bash(git log:*)", "git log $HOME *.ts stash@{0}"],
    ["Bash(git log:*)", 'git log -S \'{"a":1,"b":2}\' \\; x'],
    ["Bash(git log:*)", "# what changed\ngit log # all of it"],
    ["Bash(git log:*)", "git log '$(id)' \"\\$(id)\""],
    ["Bash(git log *)", "git log -1"],
    ["Bash(npm run test)", "npm run test"],
    ["Bash(npm run test)", "npm run test 2>&1"],
    ["Bash(foo*)", "foolish"],
    ["Bash(foo * -1)", "foo a b -1"],
    ["Bash(* --version)", "node --version"],
    ["Bash(git diff:*, git log:*)", "git log -1 && git diff HEAD"],
    ["Bash", "anything $(at) > all"],
    ["Bash(*)", "anything $(at) > all"],
  ])("%s: %j", (rule, command) => {
    expect(why([rule], bash(command))).toBe("allowed");
  });
});

describe("Bash patterns do not allow", () => {
  it.each([
    ["Bash(git log:*)", "git logs"],
    ["Bash(git log:*)", "git"],
    ["Bash(git log:*)", "git log && rm -rf x"],
    ["Bash(git log:*)", "git log; id"],
    ["Bash(git log:*)", "git log;id"],
    ["Bash(git log:*)", "git log | sh"],
    ["Bash(git log:*)", "git log || sh"],
    ["Bash(git log:*)", "git log\nsh"],
    ["Bash(git log:*)", "git log # c\nsh"],
    ["Bash(git log:*)", "cd x && git log"],
    ["Bash(git log:*)", "/tmp/git log"],
    ["Bash(git log:*)", "X=1 git log"],
    ["Bash(git log:*)", "X=1; git log"],
    ["Bash(git log:*)", "env git log"],
    ["Bash(git log:*)", "! git log"],
    ["Bash(git log:*)", ""],
    ["Bash(git log:*)", "   \n "],
    ["Bash(npm run test)", "npm run test -- --watch"],
    ["Bash(npm run test)", "npm run tests"],
    ["Bash(npm run test)", "npm run test $X"],
    ["Bash(foo * -1)", "foo -1"],
    ["Bash(foo * *)", "foo a"],
    ["Bash(FOO)", "foo"],
    ["Bash(* --version)", "PATH=. foo --version"],
    ["Bash(* --version)", "$X --version"],
    ["Bash(* --version)", "/bin/r? --version"],
    ["Bash( git log )", "git log"],
    ["Bash(echo a, rm)", "rm"],
    ["Read", "git log"],
  ])("%s: %j", (rule, command) => {
    expect(allowed([rule], bash(command))).toBe(false);
  });

  it.each([
    ["git log $(id)", "substitution"],
    ['git log "$(id)"', "substitution"],
    ["git log `id`", "backticks"],
    ['git log "`id`"', "backticks"],
    ["git log <(id)", "process substitution"],
    ["git log >(id)", "process substitution"],
    ["(git log)", "round brackets"],
    ["git log *(e:'id':)", "round brackets"],
    ["git() { id; }; git log", "round brackets"],
    ["{ git log; }", "group"],
    ["git log <<E\nid\nE", "here-document"],
    ["git log <<-'E'\n\tid\n\tE", "here-document"],
    ["git log <<< x", "here-string"],
    ["git log > out", "writes a file"],
    ["git log >> out", "writes a file"],
    ["git log 2> out", "writes a file"],
    ["git log &> out", "writes a file"],
    ["git log >& out", "writes a file"],
    ["git log >| out", "writes a file"],
    ["git log>out", "writes a file"],
    ["git log > /dev/null/../x", "writes a file"],
    ["git log > $X", "writes a file"],
    ["git log < /dev/tcp/h/1", "reads a file"],
    ["git log &", "background"],
    ["git log & git log", "background"],
    ["git log &! git log", "background"],
    ["git log ${X@P}", "in braces"],
    ['git log "${X}"', "in braces"],
    ["git log {a,b}", "brace expansion"],
    ["git log {1..9}", "brace expansion"],
    ["git log $'\\x41'", "not evaluated"],
    ['git log $"a"', "not evaluated"],
    ["git log $[1]", "not evaluated"],
    ["git log 'a", "never closed"],
    ['git log "a', "never closed"],
    ["git log $(id", "substitution"],
    ["git log )", "without its `(`"],
    ["git log &&", "missing after"],
    ["&& git log", "missing before"],
    ["git log ;; git log", "missing before"],
    ["if git log; then git log; fi", "keyword if"],
    ["for x in a; do git log; done", "keyword for"],
    ["while git log; do git log; done", "keyword while"],
    ["[[ -f x ]] && git log", "keyword [["],
    ["time git log", "keyword time"],
    ["git log # a `id`", "comment"],
    ["git log a\\ b", "before white space"],
    ['git log "$\\\n(id)"', "inside quotes"],
    ["git lo\\\ng", "white space"],
    ["git log\\\n x", "white space"],
    ["git log\u00a0x", "odd white space"],
    ["git log\u200bx", "odd white space"],
    ["git log\rid", "control characters"],
    ["git log \0", "control characters"],
    ["git log ".concat("$(".repeat(5000)), "substitution"],
  ])("under a pattern %j, and the reason says: %s", (command, reason) => {
    expect(why(["Bash(git log:*)", "Bash(id)"], bash(command))).toContain(reason);
  });

  it("a call without a command", () => {
    expect(why(["Bash(git log:*)"], call("Bash", { command: ["git log"] }))).toContain("no command");
  });
});

describe("path patterns", () => {
  const file = (tool: string, path: string) => call(tool, { file_path: path });
  it.each([
    ["Read(src/**)", "src/a.ts", true],
    ["Read(src/**)", "/home/dev/shop/src/a/b.ts", true],
    ["Read(src/**)", "./src/../src/a.ts", true],
    ["Read(src/**)", "src/.hidden", true],
    ["Read(src/**)", "src", false],
    ["Read(src/**)", "src/../lib/b.ts", false],
    ["Read(src/**)", "src/../../shop2/src/a.ts", false],
    ["Read(src/**)", "lib/src/a.ts", false],
    ["Read(src/**)", "SRC/a.ts", false],
    ["Read(src/**)", "/src/a.ts", false],
    ["Read(src/**)", "srcs/a.ts", false],
    ["Read(src/**)", "../../../../../src/a.ts", false],
    ["Read(src/*)", "src/a.ts", true],
    ["Read(src/*)", "src/a/b.ts", false],
    ["Read(src/*.ts)", "src/a.ts", true],
    ["Read(src/?.ts)", "src/ab.ts", false],
    ["Read(src/**/x.ts)", "src/x.ts", true],
    ["Read(src/**/x.ts)", "src/a/b/x.ts", true],
    ["Read(*.env)", "a/b/x.env", true],
    ["Read(*.md)", "a.md/b.ts", false],
    ["Read(*.env)", "/etc/x.env", false],
    ["Read(*.env)", "../x.env", false],
    ["Read(docs)", "docs/a.md", true],
    ["Read(docs)", "lib/docs/a.md", true],
    ["Read(docs/)", "docs/a.md", true],
    ["Read(lib/docs)", "x/lib/docs/a.md", false],
    ["Read(./docs)", "lib/docs/a.md", false],
    ["Read(/docs/**)", "docs/a.md", true],
    ["Read(/docs/**)", "/docs/a.md", false],
    ["Read(//docs/**)", "/docs/a.md", true],
    ["Read(//home/dev/shop/src/**)", "src/a.ts", true],
    ["Read(~/notes/**)", "/home/dev/notes/a", true],
    ["Read(~/notes/**)", "~/notes/a", true],
    ["Read(~/notes/**)", "~/notes/../.ssh/id", false],
    ["Read(**)", "a/b", true],
    ["Read(**)", "/etc/passwd", false],
    ["Read(.)", "a/b", true],
    ["Read(**/*.ts)", "a.ts", true],
    ['Read("src/**")', "src/a.ts", true],
    ["Read(src/**, docs/**)", "docs/a.md", true],
    ["Read(src/**)", " src/a.ts", false],
    ["Read(src/**)", "src/a\\b", false],
    ["Read(src/**)", "src/\0", false],
    ["Read(src/**)", "", false],
    ["Read(src/**)", "~root/src/a", false],
  ])("%s, Read %j: %s", (rule, path, expected) => {
    expect(allowed([rule], file("Read", path))).toBe(expected);
  });

  it.each([
    ["Edit(src/**)", file("Edit", "src/a"), true],
    ["Edit(src/**)", file("Write", "src/a"), false],
    ["Read(src/**)", file("Edit", "src/a"), false],
    ["Write(.temp/**)", file("Write", ".temp/a"), true],
    ["MultiEdit(src/**)", file("MultiEdit", "src/a"), true],
    ["NotebookEdit(src/**)", call("NotebookEdit", { notebook_path: "src/a" }), true],
    ["NotebookEdit(src/**)", call("NotebookEdit", { notebook_path: "a", file_path: "src/a" }), false],
    ["Read(src/**)", call("Read", { file_path: 7 }), false],
    ["Read(src/**)", call("Read", {}), false],
    ["Read(src/**)", call("Grep", { pattern: "x", path: "src" }), false],
    ["Grep(src/**)", call("Grep", { pattern: "x", path: "src" }), true],
    ["Grep(src)", call("Grep", { pattern: "x", path: "src/a" }), true],
    ["Grep(src/**)", call("Grep", { pattern: "x" }), false],
    ["Grep(src/**)", call("Grep", { pattern: "x", path: "." }), false],
    ["Grep(src/**/*.ts)", call("Grep", { pattern: "x", path: "src" }), false],
    ["Grep(src/*)", call("Grep", { pattern: "x", path: "src" }), false],
    ["Grep(**)", call("Grep", { pattern: "x" }), true],
    ["Grep(src/??/**)", call("Grep", { pattern: "x", path: "src" }), false],
    ["Glob(src/**)", call("Glob", { pattern: "**/*.ts", path: "src" }), true],
    ["Glob(src/**)", call("Glob", { pattern: "src/**/*.ts" }), true],
    ["Glob(src/**)", call("Glob", { pattern: "./src/a/x.ts" }), true],
    ["Glob(src/**)", call("Glob", { pattern: "src*/**" }), false],
    ["Glob(src/**)", call("Glob", { pattern: "{src,lib}/**" }), false],
    ["Glob(src/**)", call("Glob", { pattern: "src/{a,../lib}/*", path: "." }), false],
    ["Glob(src/**)", call("Glob", {}), false],
    ["Glob(src/**)", call("Glob", { pattern: "../**", path: "src" }), false],
    ["Glob(src/**)", call("Glob", { pattern: "/etc/*", path: "src" }), false],
    ["Glob(src/**)", call("Glob", { pattern: "~/*", path: "src" }), false],
    ["LS(src/**)", call("LS", { path: "src" }), true],
  ])("%s, %j: %s", (rule, use, expected) => {
    expect(allowed([rule], use)).toBe(expected);
  });

  it("relative inputs start where the agent is, relative patterns in the project's folder", () => {
    const inSrc = { cwd: "/home/dev/shop/src" };
    expect(allowed(["Read(src/**)"], call("Read", { file_path: "a.ts" }, inSrc))).toBe(true);
    expect(allowed(["Read(src/**)"], call("Read", { file_path: "src/a.ts" }, { cwd: "/etc" }))).toBe(false);
  });

  it.each([[{ projectDir: "" }], [{ projectDir: "shop" }]])(
    "match nothing without a project's folder: %j",
    (where) => {
      expect(allowed(["Read(src/**)"], call("Read", { file_path: "/src/a" }, where))).toBe(false);
    },
  );

  it("are read on Windows too", () => {
    const windows = { cwd: "C:\\shop\\src", projectDir: "C:\\shop", home: "C:\\dev" };
    expect(allowed(["Read(src/**)"], call("Read", { file_path: "C:\\shop\\src\\a.ts" }, windows))).toBe(true);
    expect(allowed(["Read(src/**)"], call("Read", { file_path: "..\\x.ts" }, windows))).toBe(false);
    expect(allowed(["Read(src/**)"], call("Read", { file_path: "D:\\shop\\src\\a.ts" }, windows))).toBe(
      false,
    );
  });
});

describe("WebFetch domains", () => {
  it.each([
    ["domain:example.com", "http://example.com/a", true],
    ["domain:example.com", "https://EXAMPLE.com:8443?x", true],
    ["domain:example.com", "https://example.com./", true],
    ["domain:example.com", "https://www.example.com", false],
    ["domain:example.com", "https://badexample.com", false],
    ["domain:example.com", "https://example.com.evil.io", false],
    ["domain:example.com", "https://example.com@evil.io/", false],
    ["domain:example.com", "https://user@example.com/", false],
    ["domain:example.com", "https://example.com\\@evil.io", false],
    ["domain:example.com", "https://evil.io/#https://example.com", false],
    ["domain:example.com", "ftp://example.com", false],
    ["domain:example.com", "example.com", false],
    ["domain:example.com", "https://exa\tmple.com", false],
    ["domain:example.com", "", false],
    ["domain:*.example.com", "https://www.example.com", true],
    ["domain:*.example.com", "https://a.b.example.com", true],
    ["domain:*.example.com", "https://example.com", false],
    ["domain:*.example.com", "https://badexample.com", false],
    ["domain:*", "https://any.io", true],
    ["domain:a.io, domain:b.io", "https://b.io", true],
  ])("%s, %s: %s", (pattern, url, expected) => {
    expect(allowed([`WebFetch(${pattern})`], call("WebFetch", { url, prompt: "p" }))).toBe(expected);
  });
});

describe("Agent and Skill lists", () => {
  it.each([
    [["Agent(worker, researcher)"], "worker", true],
    [["Agent(worker, researcher)"], "researcher", true],
    [["Agent(worker)", "Agent(researcher)"], "worker", true],
    [["Agent(worker)"], "Worker", true],
    [["Agent(software-engineer)"], "Software_Engineer", true],
    [["Agent(software-engineer)"], "spawn-guard:software-engineer", true],
    [["Agent(spawn-guard:software-engineer)"], "software-engineer", true],
    [["Agent(software-engineer)"], "other:software-engineer", false],
    [["Task(gov:worker)"], "gov:worker", true],
    [["Task(gov:worker)"], "worker", false],
    [["Agent(worker)"], "workers", false],
    [["Agent(worker)"], undefined, false],
    [["Agent(general-purpose)"], undefined, true],
    [["Agent(worker)"], 7, false],
    [["Agent()"], "worker", false],
    [["Agent(*)"], "anyone", true],
    [["Agent"], "anyone", true],
  ])("%j, type %j: %s", (rules, type, expected) => {
    const input = type === undefined ? {} : { subagent_type: type };
    expect(allowed(rules, call("Agent", input))).toBe(expected);
    expect(allowed(rules, call("Task", input))).toBe(expected);
  });

  it.each([
    ["Skill(develop)", "develop", true],
    ["Skill(develop)", "/develop", true],
    ["Skill(develop)", "developer", false],
    ["Skill(develop)", "spawn-guard:develop", false],
    ["Skill(spawn-guard:develop)", "spawn-guard:develop", true],
    ["Skill(spawn-guard:*)", "spawn-guard:develop", true],
    ["Skill(develop:*)", "developer", false],
    ["Skill(develop *)", "develop", true],
    ["Skill", "anything", true],
  ])("%s, skill %s: %s", (rule, skill, expected) => {
    expect(allowed([rule], call("Skill", { skill, args: "x" }))).toBe(expected);
  });
});
