import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseRole } from "../../../src/roles/choose-role.ts";

const rolesFor = (text: string) => chooseRole(text).candidates.map(({ role }) => role);

describe("chooseRole", () => {
  it.each<[string, string[]]>([
    ["postgres", ["db-engineer"]],
    ["PostgreSQL 16", ["db-engineer"]],
    ["postgres16", ["db-engineer"]],
    ["react native", ["mobile-engineer"]],
    ["react", ["frontend-engineer"]],
    ["kotlin", ["java-engineer", "mobile-engineer"]],
    ["kotlin backend", ["java-engineer"]],
    ["typescript", ["frontend-engineer", "software-engineer"]],
    ["schema", ["db-engineer"]],
    ["schemas", ["system-architect"]],
    ["two migrations", ["db-engineer"]],
    ["prompt injection", ["security-engineer"]],
    ["next.js", ["frontend-engineer"]],
    ["Next JS", ["frontend-engineer"]],
    ["react/next.js", ["frontend-engineer"]],
    ["AWS/GCP", ["cloud-architect"]],
    ["CI/CD", ["devops-architect"]],
    ["React + Tailwind over Postgres", ["frontend-engineer", "db-engineer"]],
    ["日本語のpostgres移行", ["db-engineer"]],
    ["ｐｏｓｔｇｒｅｓ", ["db-engineer"]],
    ["src/db/001_init.sql", ["db-engineer"]],
    ["db/migrations/2026/add_user.py", ["db-engineer"]],
    ["src/auth/login.py", ["python-engineer"]],
    ["Dockerfile", ["devops-engineer"]],
    ["./deploy/DOCKERFILE.prod", ["devops-engineer"]],
    ["next.config.js", ["frontend-engineer"]],
    ["src/server.js", ["software-engineer"]],
    ["docs/ARCHITECTURE.md", ["system-architect"]],
    ["C:\\proj\\a.sql", ["db-engineer"]],
    ["My Project/db/all of it.sql", ["db-engineer"]],
    ["fix `schema.sql` and Dockerfile.", ["db-engineer", "devops-engineer"]],
    ["cobol", ["software-engineer"]],
    ["reaction", ["software-engineer"]],
    ["io", ["software-engineer"]],
    ["../../etc/passwd", ["software-engineer"]],
    ["__proto__", ["software-engineer"]],
  ])("gives %j to %j", (text, roles) => {
    expect(rolesFor(text)).toEqual(roles);
  });

  it("says what spoke for each role", () => {
    expect(chooseRole("postgres for db/schema.sql").candidates).toEqual([
      { role: "db-engineer", why: ["file pattern *.sql (schema.sql)", 'stack word "postgres"'] },
    ]);
  });

  it.each([
    ["learnings", false],
    ["project memory", false],
    ["project memory in postgres", true],
  ])("never gives %j to the memory-curator, and says so", (text, matched) => {
    const choice = chooseRole(text);
    expect(choice.candidates.map(({ role }) => role)).not.toContain("memory-curator");
    expect(choice).toMatchObject({ matched, hint: "memory-curator is spawn-only: words never choose it" });
  });

  it("says what may have been meant where nothing matches", () => {
    expect(chooseRole("kubernets")).toMatchObject({ matched: false, hint: "did you mean kubernetes?" });
  });

  it("always gives a role that words may choose, once", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webPath(), fc.lorem()), (text) => {
        const roles = rolesFor(text);
        expect(roles.length).toBeGreaterThan(0);
        expect(new Set(roles).size).toBe(roles.length);
        expect(roles).not.toContain("memory-curator");
      }),
      { numRuns: 1000 },
    );
  });
});
