import { describe, expect, it } from "vitest";
import { redact } from "../../../src/acs/redact.ts";
import { BASIC, JWT, KEY_LINE, PASSWORD, PROVIDER_KEYS, privateKey } from "./fake-secrets.ts";

const RSA = "RSA PRIVATE";

/** Not a measure: what goes wrong here goes on for minutes. */
const HANGS = { timeout: 30_000 };

describe("in a text", () => {
  it.each(Object.entries(PROVIDER_KEYS))("%s goes, wherever it stands", (_, key) => {
    for (const text of [key, `use ${key}, please`, `a/${key}/b`, `(${key})`, `\n${key}\n`, `é${key}é`]) {
      expect(redact(text)).not.toContain(key);
      expect(redact(text)).toContain("[redacted:api-key]");
    }
  });

  it.each([
    ["a header", `Authorization: Bearer ${PASSWORD}\nHost: x`, "Authorization: [redacted:secret]\nHost: x"],
    [
      "a header in escapes",
      `Authorization: Basic ${BASIC}\\r\\nHost`,
      "Authorization: [redacted:secret]\\r\\nHost",
    ],
    ["a header in quotes", `-H "Cookie: a=1; b=2" x`, '-H "Cookie: [redacted:secret]" x'],
    ["a header with quotes in it", `Cookie: a="1"; b=2\nx`, "Cookie: [redacted:secret]\nx"],
    ["a header of one's own", `-H 'x-api-key: ${PASSWORD}' x`, "-H 'x-api-key: [redacted:secret]' x"],
    ["a header in escaped quotes", 'x \\"Cookie: a=b\\" y', 'x \\"Cookie: [redacted:secret]\\" y'],
    ["a scheme before the value", "X-Auth-Token: Token abc x", "X-Auth-Token: [redacted:secret] x"],
    ["a bearer token of letters", "Bearer abcdefghijklmnopqrstuvwxyz x", "Bearer [redacted:bearer] x"],
    ["a small name behind an escaped line break", "a=1\\napi_key=abc", "a=1\\napi_key=[redacted:secret]"],
    ["a bearer token alone", `with bearer ${PASSWORD}.`, "with bearer [redacted:bearer]"],
    ["a basic pair alone", `Basic ${BASIC} x`, "Basic [redacted:basic] x"],
    ["a JWT", `got ${JWT} back`, "got [redacted:jwt] back"],
    ["a JWT behind a word", `id.x${JWT}`, "id.x[redacted:jwt]"],
    ["a URL's password", `https://me:${PASSWORD.replace("/", "")}@h.io/x`, "https://[redacted:url]@h.io/x"],
    ["a database's password", "postgres://app:p@ss@db:5432/x", "postgres://[redacted:url]@db:5432/x"],
    ["a token before a host", "https://0123456789abcdef0123@h.io", "https://[redacted:url]@h.io"],
    [
      "a parameter",
      "https://h.io/?access_token=abc&page=2#x",
      "https://h.io/?access_token=[redacted:secret]&page=2#x",
    ],
    ["a key parameter", "/v1?key=abc&sig=d%2Fe&q=1", "/v1?key=[redacted:secret]&sig=[redacted:secret]&q=1"],
    ["a variable", "export FOO_TOKEN=abc && x", "export FOO_TOKEN=[redacted:secret] && x"],
    ["a variable in quotes", 'DB_PASSWORD="a b" x', 'DB_PASSWORD="[redacted:secret]" x'],
    ["a variable in escaped quotes", 'TOKEN=\\"a \\\\\\" b\\" x', 'TOKEN=\\"[redacted:secret]\\" x'],
    ["a variable with odd characters", "PASSWORD=a$b(c)d;e&f x", "PASSWORD=[redacted:secret] x"],
    ["a variable behind an escaped line break", "a=1\\nAPI_KEY=abc", "a=1\\nAPI_KEY=[redacted:secret]"],
    ["a quote that is not closed", 'secret="abc def', 'secret="[redacted:secret]'],
    [
      "a flag",
      "x --password=abc --token abc -v",
      "x --password=[redacted:secret] --token [redacted:secret] -v",
    ],
    ["a property", "spring.datasource.password=abc", "spring.datasource.password=[redacted:secret]"],
    ["YAML", "db:\n  password: abc\n  port: 1", "db:\n  password: [redacted:secret]\n  port: 1"],
    ["XML", "<password>abc</password>", "<password>[redacted:secret]</password>"],
    ["a form", "user[password]=abc&x=1", "user[password]=[redacted:secret]&x=1"],
    ["a pair in code", `'api_key' => 'abc'`, "'api_key' => '[redacted:secret]'"],
    ["an entry in code", `env["TOKEN"] = "abc"`, 'env["TOKEN"] = "[redacted:secret]"'],
    ["JSON in a text", `body {"a":1,"token":"abc","b":2}`, 'body {"a":1,"token":"[redacted:secret]","b":2}'],
    ["JSON in escapes", 'x {\\"token\\":\\"abc\\"}', 'x {\\"token\\":\\"[redacted:secret]\\"}'],
    [
      "a list in JSON in a text",
      'x {"secrets": ["a", {"b": 1}], "c": 1}',
      'x {"secrets": [redacted:secret], "c": 1}',
    ],
    [
      "a list of words in a text",
      'run(["x", "--token", "a b"])',
      'run(["x", "--token", "[redacted:secret]"])',
    ],
    [
      "a name beside in YAML",
      "- name: DB_PASSWORD\n  value: abc\n",
      "- name: DB_PASSWORD\n  value: [redacted:secret]\n",
    ],
    [
      "a name beside in XML",
      '<add key="ApiKey" value="a b"/>',
      '<add key="ApiKey" value="[redacted:secret]"/>',
    ],
    [
      "a name beside in JSON in a text",
      'x {"name":"TOKEN", "value":"abc"}',
      'x {"name":"TOKEN", "value":"[redacted:secret]"}',
    ],
    ["a program behind an escaped line break", "a\\nmysql -pabc", "a\\nmysql -p[redacted:secret]"],
    ["mysql -p", "mysql -u root -pabc db", "mysql -u root -p[redacted:secret] db"],
    ["sshpass -p", "sshpass -p 'a b' ssh h", "sshpass -p '[redacted:secret]' ssh h"],
    ["redis-cli -a", "redis-cli -h x -a abc get y", "redis-cli -h x -a [redacted:secret] get y"],
    ["curl -u", "curl -s -u me:abc https://h", "curl -s -u [redacted:secret] https://h"],
    ["a letter twice", "curl -u me:abc -u b:def h", "curl -u [redacted:secret] -u [redacted:secret] h"],
    ["a letter in a second command", "mysql -v; mysql -pab", "mysql -v; mysql -p[redacted:secret]"],
    [
      "a letter after a separator in quotes",
      "mysql -p'a;b' -pc",
      "mysql -p'[redacted:secret]' -p[redacted:secret]",
    ],
    ["netrc", "machine h login me password abc", "machine h login me password [redacted:secret]"],
    ["a private key", `a\n${privateKey(RSA)}\nb`, "a\n[redacted:pem]\nb"],
    [
      "a private key in one line",
      `a\\n${privateKey("OPENSSH PRIVATE", "\\n")}\\nb`,
      "a\\n[redacted:pem]\\nb",
    ],
    ["a private key that is cut off", `a ${privateKey("PRIVATE").slice(0, 60)}`, "a [redacted:pem]"],
  ])("%s is taken out", (_, text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    "max_tokens=5 token_count: 7, tokens: 500, input_tokens=3",
    "author: me, authority=x, keyboard: us, monkey=1, key: value, primary_key=id",
    "PWD=/srv/shop OLDPWD=/srv",
    "const token: string = read(); token => token.trim(); if (password > limit) x",
    "password: null, secret = false; token == undefined",
    "the bearer instruments of a basic understanding",
    "task-force-of-many-people, sk-learn-is-no-key-at-all",
    "https://h.io:8080/a@b and ssh://git@github.com/x",
    "docker run -p 80:80; curl -u 1000:1000; mysqldump -v",
    "--password-stdin --token --verbose",
    "see my.eyJob.description.md",
    "[redacted:secret]=abc",
    "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
    'name: HOME, value: x; <a key="k" value="v"/>; ["--verbose", "abc"]',
    "PRIMARY_KEY=id CACHE_KEY=x sort_key=y Token::new()",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '{ "max_tokens":  5, "a": [1.0] }',
    "",
  ])("%j stays as it is", (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe("by the name of a member", () => {
  it.each(
    [
      "password passwd passphrase PASSWORD1 new_password passwordHash userPassword pgpassword db_pass dbpass pwd",
      "secret secrets client_secret clientSecret secret_id SECRET_KEY_BASE AWS_SECRET_ACCESS_KEY",
      "token accessToken access_token ID_TOKEN x-auth-token githubtoken token2 authTokens api_tokens token_value",
      "api_key apiKey APIKey API-KEY apikey x-api-key OPENAI_KEY access_key private_key privateKeyPem signing_key",
      "authorization Authorization Proxy-Authorization auth _auth cookie Set-Cookie cookies credentials jwt otp",
      "db.password spring.datasource.password AccountKey SharedAccessKey Ocp-Apim-Subscription-Key",
    ].flatMap((names) => names.split(" ")),
  )("%s is taken out", (name) => {
    expect(redact({ [name]: "abc" })).toEqual({ [name]: "[redacted:secret]" });
    expect(redact({ a: [{ [name]: { b: ["abc"] } }] })).toEqual({ a: [{ [name]: "[redacted:secret]" }] });
    expect(redact({ [name]: 12 })).toEqual({ [name]: "[redacted:secret]" });
  });

  it.each(
    [
      "max_tokens maxTokens tokens tokens_used input_tokens maxtokens token_count tokenCount tokenizer token_type",
      "keyboard key keys monkey primary_key public_key PUBLIC_KEY CACHE_KEY private_key_id api_key_env",
      "author authors author_name authority authentication_method PWD OLDPWD cwd session_id",
      "secretary password_policy cookie_name pass passed compass bypass passage has_password_field value",
    ].flatMap((names) => names.split(" ")),
  )("%s stays", (name) => {
    expect(redact({ [name]: "abc" })).toEqual({ [name]: "abc" });
  });

  it("leaves what can be no secret", () => {
    const value = { password: null, token: "", has_secret: true, max_tokens: 5, list: [1, null, false] };
    expect(redact(value)).toBe(value);
  });

  it("knows names that are values, or stand before", () => {
    expect(
      redact({
        env: [
          { name: "DB_PASSWORD", value: "abc" },
          { name: "HOME", value: "abc" },
        ],
      }),
    ).toEqual({
      env: [
        { name: "DB_PASSWORD", value: "[redacted:secret]" },
        { name: "HOME", value: "abc" },
      ],
    });
    expect(redact(["x", "--token", "abc", "-v"])).toEqual(["x", "--token", "[redacted:secret]", "-v"]);
    expect(
      redact([
        ["Cookie", "abc"],
        ["Host", "abc"],
      ]),
    ).toEqual([
      ["Cookie", "[redacted:secret]"],
      ["Host", "abc"],
    ]);
    expect(redact(["--token", "--password", "abc", "--secret"])).toEqual([
      "--token",
      "--password",
      "[redacted:secret]",
      "--secret",
    ]);
    expect(redact(["token", "abc", "other"])).toEqual(["token", "abc", "other"]);
  });

  it("takes names out that are secrets themselves", () => {
    const key = PROVIDER_KEYS["a GitHub token"] ?? "";
    expect(redact({ [key]: 1, a: 3 })).toEqual({ "[redacted:api-key]": 1, a: 3 });
    expect(JSON.stringify(redact(JSON.parse('{"__proto__":{"token":"abc"}}')))).toBe(
      '{"__proto__":{"token":"[redacted:secret]"}}',
    );
  });
});

describe("JSON inside a text", () => {
  it("is read as what it is", () => {
    expect(redact('{"a":"\\u0073ecret","passw\\u006frd":"abc"}')).toBe(
      '{"a":"secret","password":"[redacted:secret]"}',
    );
    expect(redact(JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ token: "abc" }) }) }))).toBe(
      JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ token: "[redacted:secret]" }) }) }),
    );
    expect(redact(JSON.stringify(`the token=${PASSWORD}`))).toBe('"the token=[redacted:secret]"');
  });

  it("hides nothing behind a name that comes twice", () => {
    expect(redact(`{"a":"Bearer ${PASSWORD}","a":"b"}`)).toBe('{"a":"b"}');
  });
});

describe("redact", () => {
  it("holds a private key's lines back wherever they stand", () => {
    const key = privateKey("EC PRIVATE");
    for (const value of [
      key,
      { a: [key] },
      JSON.stringify({ key }),
      `echo '${key}' > k`,
      [JSON.stringify(key)],
    ]) {
      expect(JSON.stringify(redact(value))).not.toContain(KEY_LINE);
    }
  });

  it("ends at 40 levels, in JSON inside a text too", () => {
    const nested = (levels: number): unknown => (levels === 0 ? "x" : [nested(levels - 1)]);
    expect(redact(nested(40))).toEqual(nested(40));
    expect(JSON.stringify(redact(nested(41)))).toBe(`${"[".repeat(40)}"[redacted:depth]"${"]".repeat(40)}`);
    expect(redact(JSON.stringify(nested(41)))).toBe(`${"[".repeat(39)}"[redacted:depth]"${"]".repeat(39)}`);
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(redact(deep)).toBe(`${"[".repeat(39)}"[redacted:depth]"${"]".repeat(39)}`);
  });

  it("gives back what is no text as it is", () => {
    for (const value of [null, 0, true, undefined, [], {}]) expect(redact(value)).toBe(value);
  });

  it.each([
    "a",
    "A",
    "_",
    " ",
    "-",
    ".",
    "a.",
    "a-",
    "a ",
    "a = ",
    "\\",
    '\\"',
    '"',
    "'\"`",
    "[",
    '{"a":',
    "=",
    "&a",
    "&a=",
    "?key=",
    "://",
    "://a",
    "://a:",
    "a@",
    "eyJ",
    "eyJabcdefgh.",
    "sk-",
    "sk-ant-",
    "xoxb-",
    "SG.",
    "AKIA",
    "pypi-",
    "Bearer ",
    "basic  ",
    "token=",
    "token='",
    'token="',
    "token=string]",
    `token=${"]".repeat(20)}string`,
    "token=basic ",
    "token:&",
    '"token":{',
    '"token":[ ',
    '"token":\\',
    "--token ",
    '"--token", ',
    "<token>",
    "name:",
    'name="a" ',
    "key=a,\\n",
    "cookie:",
    '"Cookie: ',
    "mysql ",
    "mysql -",
    "mysql-",
    "curl -u ",
    "curl -u=a",
    "login a ",
    "login  ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN ",
    "-----END ",
  ])(
    "comes to an end with a megabyte of %j",
    (piece) => {
      for (const end of ["", 'x\n"@']) {
        const text = piece.repeat(Math.ceil(1_000_000 / piece.length)) + end;
        expect(typeof redact(text)).toBe("string");
      }
    },
    HANGS.timeout,
  );
});
