import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sessionStart } from "../../../src/acs/receipts.ts";
import { anyOf, keyFrom, Signer, signatureOf } from "../../../src/acs/signer.ts";
import { runAudit } from "../../../src/cli/audit-command.ts";

const folder = mkdtempSync(join(tmpdir(), "signer-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEX = "0f".repeat(32);
const BYTES = Buffer.from(HEX, "hex");
const BINARY = Buffer.from(Array.from({ length: 32 }, (_, index) => 200 + index));

describe("a key", () => {
  it.each<[string, Buffer, Buffer]>([
    ["in hex", Buffer.from(HEX), BYTES],
    ["in hex with a line feed", Buffer.from(`${HEX.toUpperCase()}\n`), BYTES],
    ["in base64", Buffer.from(BYTES.toString("base64")), BYTES],
    ["in base64 of a URL, without padding", Buffer.from(BYTES.toString("base64url")), BYTES],
    ["that is no text", BINARY, BINARY],
    [
      "that is no text and ends with a line feed",
      Buffer.concat([BINARY, Buffer.from("\n")]),
      Buffer.concat([BINARY, Buffer.from("\n")]),
    ],
    [
      "of words",
      Buffer.from("a pass phrase of more than thirty-two bytes"),
      Buffer.from("a pass phrase of more than thirty-two bytes"),
    ],
  ])("%s is what it stands for", (_, given, key) => {
    expect(keyFrom(given).equals(key)).toBe(true);
  });

  it("of two that are no text is not one", () => {
    const other = Buffer.from(BINARY.map((byte) => byte - 1));
    expect(new Signer(keyFrom(other)).keyId).not.toBe(new Signer(keyFrom(BINARY)).keyId);
  });

  it("of 31 bytes is refused", () => {
    expect(() => new Signer(Buffer.alloc(31))).toThrow("the audit key has 31 bytes; at least 32 are needed");
  });
});

describe("a signature", () => {
  const session = "0c0c0c0c-1111-4222-8333-444444444444";
  const { request } = sessionStart(
    { actor: { session, agent: "main", name: "claude-code" }, now: 0 },
    { rules: ["*"], banned: [], scope: "permissive", provenance: { origin: "user_input", source: "test" } },
    {},
  );
  const old = new Signer(BYTES);
  const signed = { ...request, params: { ...request.params, signature: old.sign(request, session) } };

  it("is verified by its key, alone or among others", () => {
    expect(signatureOf(signed)?.key_id).toBe(old.keyId);
    expect(anyOf([new Signer(BINARY), old]).verifies(signed, session)).toBe(true);
    expect(anyOf([new Signer(BINARY)]).verifies(signed, session)).toBe(false);
    expect(anyOf([old]).verifies(request, session)).toBe(false);
  });

  it("holds for its session only", () => {
    expect(old.verifies(signed, "0d0d0d0d-1111-4222-8333-444444444444")).toBe(false);
  });
});

describe("spawn-guard audit --key-file", () => {
  const short = join(folder, "short");
  writeFileSync(short, "too short\n");
  const key = join(folder, "key");
  writeFileSync(key, HEX);
  const run = (...argv: string[]) =>
    runAudit(["verify", "--data", folder, "--session", "none", ...argv], {
      environment: {},
      configFolder: folder,
    });

  it.each([
    [[short], `${short}: the audit key has 10 bytes; at least 32 are needed`],
    [[key, join(folder, "missing")], `${join(folder, "missing")} is no file that can be read`],
  ])("%# names the file that cannot be used", (files, message) => {
    const { exitCode, stderr } = run(...files.flatMap((file) => ["--key-file", file]));
    expect(exitCode).toBe(1);
    expect(stderr).toContain(message);
  });

  it("is not needed, and an empty variable is none", () => {
    const { stderr } = runAudit(["verify", "--data", folder, "--session", "none"], {
      environment: { SPAWN_GUARD_AUDIT_KEY: "" },
      configFolder: folder,
    });
    expect(stderr).toContain("the session has no receipts");
  });
});
