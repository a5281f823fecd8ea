import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readAgentFolder } from "../../../src/roles/agent-folder.ts";
import type { AgentPlace } from "../../../src/roles/agent-places.ts";
import { OwnAgents } from "../../../src/roles/own-agents.ts";
import { findOwnRole } from "../../../src/roles/own-role.ts";

const NAMES = [
  "reader",
  "Reader",
  "re-ader",
  "re_ader",
  "reader2",
  "read er",
  "writer",
  "Explore",
  "ΑΣ",
  "---",
];

/** Ways to write a name in YAML, sound and unsound. */
const WAYS: ((name: string) => string)[] = [
  (name) => `name: ${name}`,
  (name) => `name: "${name}"`,
  (name) => `name: '${name}'`,
  (name) => `"name": ${name} # the name`,
  (name) => `name: >-\n  ${name}`,
  (name) => `name: |-\n  ${name}`,
  (name) => `{ name: ${name} }`,
  (name) => `? name\n: ${name}`,
  (name) => `name:\n  ${name}`,
  (name) => `name: "${[...name].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`,
  (name) => `name: "\\x${(name.codePointAt(0) ?? 0).toString(16).padStart(2, "0")}${name.slice(1)}"`,
  (name) => `name: "${name.slice(0, 2)}\\\n  ${name.slice(2)}"`,
  (name) => `name: ${name.slice(0, 3)}\n  ${name.slice(3)}`,
  (name) => `name: &a ${name}`,
  (name) => `name: !!str ${name}`,
  (name) => `base: &a ${name}\nname: *a`,
  (name) => `name: ${name}\nname: other`,
  (name) => `name: [${name}]`,
  (name) => `description: about ${name}`,
  (name) => `name: ${name}\nbroken: a: b`,
  (name) => `name: ${name}\n  tools: Read`,
];
const RIGHTS = ["tools: Read", "tools: Read, Bash", "tools: Read\ndisallowedTools: Bash", "", "tools: a: b"];
const LONG = `description: ${"x".repeat(1_500)}`;
const VERY_LONG = `description: ${"x y ".repeat(5_000)}`;

type File = { path: string; text: string };

const file: fc.Arbitrary<File> = fc
  .record({
    name: fc.constantFrom(...NAMES),
    base: fc.constantFrom(...NAMES, "file"),
    folder: fc.constantFrom("", "a/", "b/c/"),
    way: fc.constantFrom(...WAYS),
    rights: fc.constantFrom("tools: Read", "tools: Read", "tools: Read", ...RIGHTS),
    long: fc.constantFrom("", "", "", "", "", LONG, VERY_LONG),
    opening: fc.constantFrom(...Array(8).fill("---\n"), "\uFEFF---\n", "--- \n", "\n---\n", "---js\n", ""),
    closing: fc.constantFrom(...Array(8).fill("---\n"), "--- x\n---\n", "---", "...\n", ""),
    end: fc.constantFrom("\n", "\r\n", "\r"),
    body: fc.constantFrom("body\n", "", `${"body\n".repeat(4_000)}`, "name: reader\n"),
  })
  .map(({ name, base, folder, way, rights, long, opening, closing, end, body }) => {
    const header = [long, way(name), rights].filter((part) => part !== "").join("\n");
    return {
      path: `${folder}${base}.md`,
      text: `${opening}${header}\n${closing}${body}`.replaceAll("\n", end),
    };
  });

const places = fc.tuple(
  fc.array(file, { maxLength: 4 }),
  fc.array(file, { maxLength: 2 }),
  fc.constantFrom(...NAMES, "Read-Er", "READER", "rea", "other", "file", " ", ""),
);

it("finds what reading every file whole would find, whatever stands in them", async () => {
  const kinds = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(places, async ([project, user, type]) => {
      const root = mkdtempSync(join(tmpdir(), "own-agents-"));
      try {
        for (const [part, files] of Object.entries({ project, user })) {
          for (const { path, text } of files) {
            mkdirSync(dirname(join(root, part, path)), { recursive: true });
            writeFileSync(join(root, part, path), text);
          }
        }
        const at: AgentPlace[] = [
          { folder: join(root, "project"), origin: "project" },
          { folder: join(root, "user"), origin: "user" },
        ];
        const whole = findOwnRole(type, at, readAgentFolder);
        expect(await new OwnAgents(at).find(type)).toEqual(whole);
        const kind = whole === null ? "none" : "broken" in whole ? "broken" : "role";
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    }),
    { numRuns: 500 },
  );
  // The property says nothing where every file is looked over.
  for (const kind of ["none", "broken", "role"]) expect(kinds.get(kind), kind).toBeGreaterThan(3);
});
