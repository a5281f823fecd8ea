import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact } from "../../../src/acs/redact.ts";
import { BASIC, JWT, KEY_LINE, PASSWORD, PROVIDER_KEYS, privateKey } from "../../unit/acs/fake-secrets.ts";

/** Texts that bring the patterns near to each other, and to quotes and escapes that do not match up. */
const piece = fc.oneof(
  fc.constantFrom(
    ..."'\"`\\=:&?#@/.,;<>[]{}()|-_ \n\t",
    ...[
      "token",
      "password",
      "max_tokens",
      "api_key",
      "Cookie: ",
      "Authorization:",
      "Bearer ",
      "Basic ",
      "=>",
    ],
    ...[
      "TOKEN=",
      '"token":',
      '\\"token\\":\\"',
      "--token ",
      "<token>",
      "https://",
      "a:b@",
      "?key=",
      "&sig=",
      "\\n",
    ],
    ...["mysql -p", "curl -u ", "sshpass -p ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"],
    ...["[redacted:secret]", "[redacted:url]", "null", "string", "x", "1", "token='", "é"],
    ...[JWT, BASIC, PASSWORD, ...Object.values(PROVIDER_KEYS)],
  ),
  fc.string({ maxLength: 4 }),
);
const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""));
const name = fc.oneof(
  text,
  fc.constantFrom("token", "password", "name", "value", "max_tokens", "a", "__proto__"),
);
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.constantFrom(null, true, 0, -1.5),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(name, tie("json"), { maxKeys: 4 }),
    tie("json").map((value) => JSON.stringify(value) ?? ""),
  ),
}));

/** Where a value may stand: in objects, lists, JSON inside texts, each again and again. */
const around = fc.array(
  fc.constantFrom(
    (value: unknown): unknown => [value],
    (value: unknown): unknown => ["x", value, { max_tokens: 3 }],
    (value: unknown): unknown => ({ command: value, author: "me" }),
    (value: unknown): unknown => JSON.stringify({ tool_input: value }),
    (value: unknown): unknown => JSON.stringify([value, "it's"], null, 2),
    (value: unknown): unknown => `$ echo ${typeof value === "string" ? value : JSON.stringify(value)}\nok`,
  ),
  { maxLength: 5 },
);

function wrapped(value: unknown, layers: readonly ((value: unknown) => unknown)[]): unknown {
  return layers.reduce((inner, layer) => layer(inner), value);
}

const before = fc.constantFrom(
  "",
  " ",
  "x ",
  "see: ",
  "'",
  '"',
  "(",
  "\n",
  "a=",
  "é",
  "/",
  "{",
  "1, ",
  "\\n",
);
const after = fc.constantFrom("", " ", " x", "'", '"', ")", "\n", ", y", "é", ";", "\\n", "}");

describe("redact", () => {
  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(json, (value) => {
        const once = redact(value);
        expect(redact(once)).toEqual(once);
        expect(JSON.stringify(redact(JSON.parse(JSON.stringify(once))))).toBe(JSON.stringify(once));
      }),
      { numRuns: 20_000 },
    );
  });

  it("makes no text much longer, and leaves every kind of value what it is or a text", () => {
    fc.assert(
      fc.property(json, (value) => {
        const clean = redact(value);
        const given = JSON.stringify(value) ?? "";
        expect((JSON.stringify(clean) ?? "").length).toBeLessThanOrEqual(8 * given.length + 20);
        if (typeof clean !== "string") expect(Array.isArray(clean)).toBe(Array.isArray(value));
      }),
      { numRuns: 5000 },
    );
  });

  it("lets no key of a provider through, wherever it stands", () => {
    const key = fc.constantFrom(...Object.values(PROVIDER_KEYS), JWT);
    fc.assert(
      fc.property(key, before, after, around, fc.boolean(), (secret, start, end, layers, asName) => {
        const held = `${start}${secret}${end}`;
        const clean = JSON.stringify(redact(wrapped(asName ? { [held]: 1 } : held, layers)));
        expect(clean).not.toContain(secret);
        expect(clean).toContain("[redacted:");
      }),
      { numRuns: 10_000 },
    );
  });

  it("lets no secret through that is named, however it is written", () => {
    const secretName = fc.constantFrom(
      "password",
      "api_key",
      "FOO_TOKEN",
      "clientSecret",
      "x-api-key",
      "DB_PASS",
    );
    const secret = fc
      .string({ unit: fc.constantFrom(..."abcXYZ0189+/_-.!%^*~"), minLength: 6, maxLength: 60 })
      .map((body) => `Zq${body}9`);
    const form = fc.constantFrom(
      (named: string, value: string): unknown => ({ [named]: value }),
      (named: string, value: string): unknown => ({ [named]: { deep: [value] } }),
      (named: string, value: string): unknown => [`--${named}`, value],
      (named: string, value: string): unknown => ({ name: named, value }),
      (named: string, value: string): unknown => `${named}=${value}`,
      (named: string, value: string): unknown => `export ${named}="${value} and more" && x`,
      (named: string, value: string): unknown => `run -v --${named} ${value} y`,
      (named: string, value: string): unknown => `run --${named}='${value}'`,
      (named: string, value: string): unknown => `a:\n  ${named}: ${value}\n  b: 1`,
      (named: string, value: string): unknown => `curl https://h.io/?a=1&${named}=${value}&b=2`,
      (named: string, value: string): unknown => `got {"a": 1, "${named}" : "${value}"} here`,
      (named: string, value: string): unknown => `curl -d '{\\"${named}\\":\\"${value}\\"}' h`,
      (named: string, value: string): unknown => `-H "${named}: ${value}" -v`,
      (named: string, value: string): unknown => `<${named}>${value}</${named}>`,
      (_: string, value: string): unknown => `postgres://app:${value.replaceAll("/", "")}@db/x`,
      (_: string, value: string): unknown => `Authorization: Bearer ${value}\nHost: h`,
      (_: string, value: string): unknown => `Cookie: a=1; session=${value}`,
      (_: string, value: string): unknown => `mysql -u root -p${value} db`,
    );
    fc.assert(
      fc.property(secretName, secret, form, around, (named, value, written, layers) => {
        const clean = JSON.stringify(redact(wrapped(written(named, value), layers)));
        expect(clean).not.toContain(value);
        expect(clean).not.toContain(value.replaceAll("/", ""));
      }),
      { numRuns: 20_000 },
    );
  });

  it("lets no line of a private key through", () => {
    const kind = fc.constantFrom("PRIVATE", "RSA PRIVATE", "OPENSSH PRIVATE", "ENCRYPTED PRIVATE");
    const lineBreak = fc.constantFrom("\n", "\r\n", "\\n", "\\\\n", " ");
    fc.assert(
      fc.property(kind, lineBreak, before, after, around, (which, broken, start, end, layers) => {
        const held = `${start}${privateKey(which, broken)}${end}`;
        expect(JSON.stringify(redact(wrapped(held, layers)))).not.toContain(KEY_LINE);
      }),
      { numRuns: 3000 },
    );
  });

  it("leaves texts without secrets alone, in JSON or not", () => {
    const plain = fc.constantFrom(
      "max_tokens: 5",
      "the author",
      "keyboard=us",
      "tokens used",
      "a task-force",
      "src/a.ts",
    );
    fc.assert(
      fc.property(plain, around, (words, layers) => {
        const value = wrapped(words, layers);
        expect(redact(value)).toBe(value);
      }),
    );
  });
});
