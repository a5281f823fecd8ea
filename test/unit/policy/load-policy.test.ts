import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadPolicy } from "../../../src/policy/load-policy.ts";
import { DEFAULT_POLICY, POLICY_KEYS } from "../../../src/policy/policy-keys.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "spawn-guard-policy-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const PROJECT = "project/.claude/spawn-guard.json";
const SETTINGS = "project/.claude/settings.json";
const LOCAL = "project/.claude/settings.local.json";
const USER = "config/settings.json";

function put(file: string, content: unknown): void {
  const path = join(root, file);
  mkdirSync(dirname(path), { recursive: true });
  const isRaw = typeof content === "string" || content instanceof Uint8Array;
  writeFileSync(path, isRaw ? content : JSON.stringify(content));
}

function load(options: Record<string, string> = {}, before: readonly string[] = []) {
  const environment = Object.fromEntries(
    Object.entries(options).map(([key, value]) => [`CLAUDE_PLUGIN_OPTION_${key}`, value]),
  );
  const home = () => join(root, "home");
  return loadPolicy(environment, join(root, "project"), join(root, "config"), before, home);
}

function own(options: Record<string, unknown>, name = "spawn-guard@somewhere") {
  return { pluginConfigs: { [name]: { options } } };
}

function env(...names: string[]) {
  return { env: Object.fromEntries(names.map((name) => [name, "99"])) };
}

const DEPTH = "CLAUDE_PLUGIN_OPTION_SUBAGENT_MAX_DEPTH";

describe("user options in the environment", () => {
  it("are absent: the defaults hold, nothing is wrong", () => {
    expect(load()).toMatchObject({ policy: DEFAULT_POLICY, problems: [] });
  });

  it.each(POLICY_KEYS)("set %s by its name in capitals", (key) => {
    // The host leaves an empty option out.
    const value = DEFAULT_POLICY[key] === "" ? "/given" : DEFAULT_POLICY[key];
    expect(load({ [key.toUpperCase()]: String(value) })).toMatchObject({
      policy: { ...DEFAULT_POLICY, [key]: value },
      origins: { [key]: "user option" },
      problems: [],
    });
  });

  it("that are empty are not set", () => {
    expect(load({ SUBAGENT_MAX_DEPTH: "", PAYLOAD_MODE: "" })).toMatchObject({
      policy: DEFAULT_POLICY,
      problems: [],
    });
  });

  it("in other letters, or for no key of ours, are somebody else's", () => {
    expect(load({ subagent_max_depth: "1", API_KEY: "secret" })).toMatchObject({
      policy: DEFAULT_POLICY,
      problems: [],
    });
  });

  it("that are malformed are named, and the default holds", () => {
    const { policy, problems } = load({ SUBAGENT_MAX_DEPTH: "many", MAX_CONCURRENT_SPAWNS: "-1" });
    expect(policy).toEqual(DEFAULT_POLICY);
    expect(problems).toHaveLength(2);
  });
});

describe("the project's file", () => {
  it("tightens and cannot widen", () => {
    put(PROJECT, { subagent_max_depth: 1, max_concurrent_spawns: 99 });
    const { policy, origins } = load({ MAX_CONCURRENT_SPAWNS: "4" });
    expect(policy).toMatchObject({ subagent_max_depth: 1, max_concurrent_spawns: 4 });
    expect(origins).toMatchObject({
      subagent_max_depth: ".claude/spawn-guard.json",
      max_concurrent_spawns: "user option",
    });
  });

  it.each([
    [{ max_budget: { max_turns: 10, timeout_ms: 60_000 } }],
    [{ max_budget_turns: 10, max_budget_timeout_ms: 60_000 }],
  ])("may group the payload's caps: %j", (file) => {
    put(PROJECT, file);
    expect(load()).toMatchObject({
      policy: { max_budget_turns: 10, max_budget_timeout_ms: 60_000 },
      problems: [],
    });
  });

  it.each([
    [{ max_budget: 5 }, '"max_budget"'],
    [{ max_budget: { max_cakes: 5 } }, '"max_budget_cakes"'],
    [{ max_budget: { max_turns: -1 } }, "max_budget_turns is -1"],
    [{ subagent_max_depht: 1 }, '"subagent_max_depht" is not a policy key'],
    [{ subagent_max_depth: "" }, 'subagent_max_depth is ""'],
  ])("with a mistake is named: %j", (file, words) => {
    put(PROJECT, file);
    const { policy, problems } = load();
    expect(policy).toEqual(DEFAULT_POLICY);
    expect(problems).toEqual([expect.stringContaining(words)]);
  });

  it("is read behind a byte order mark and with CRLF", () => {
    put(PROJECT, '\uFEFF{\r\n  "subagent_max_depth": 1\r\n}\r\n');
    expect(load()).toMatchObject({ policy: { subagent_max_depth: 1 }, problems: [] });
  });

  it("reads 1e999 as no limit at all, so it is refused", () => {
    put(PROJECT, '{"subagent_max_depth": 1e999}');
    expect(load().problems).toEqual([expect.stringContaining("subagent_max_depth is Infinity")]);
  });

  it.each([
    ["an empty file", ""],
    ["cut off", '{"subagent_max_depth": 1'],
    ["text", "no limits please"],
    ["a list", "[]"],
    ["null", "null"],
    ["a number", "3"],
    ["bytes that are no UTF-8", new Uint8Array([0xff, 0xfe, 0x7b])],
    ["comments", '{ // depth\n"subagent_max_depth": 1}'],
  ])("that is %s is a problem, and changes nothing", (_, content) => {
    put(PROJECT, content);
    const { policy, problems } = load({ SUBAGENT_MAX_DEPTH: "2" });
    expect(policy.subagent_max_depth).toBe(2);
    expect(problems).toEqual([expect.stringContaining(join(root, PROJECT))]);
  });

  it("that is a folder, or a link to nowhere, counts as none", () => {
    mkdirSync(join(root, PROJECT), { recursive: true });
    expect(load().policy).toEqual(DEFAULT_POLICY);
  });

  it.each([
    '{"__proto__": {"subagent_max_depth": 0}}',
    '{"constructor": {"prototype": {"subagent_max_depth": 0}}}',
    '{"max_budget": {"__proto__": {"max_turns": 1}}}',
  ])("does no harm with %s", (text) => {
    put(PROJECT, text);
    expect(load().policy).toEqual(DEFAULT_POLICY);
    expect({}).not.toHaveProperty("subagent_max_depth");
  });
});

describe("an option that the project's settings put into the environment", () => {
  it.each([SETTINGS, LOCAL])("in %s is the project's word: it cannot widen", (file) => {
    put(file, env(DEPTH));
    const { policy, origins } = load({ SUBAGENT_MAX_DEPTH: "99" });
    expect(policy.subagent_max_depth).toBe(3);
    expect(origins.subagent_max_depth).toBe("default");
  });

  it("may tighten", () => {
    put(SETTINGS, env(DEPTH));
    expect(load({ SUBAGENT_MAX_DEPTH: "1" })).toMatchObject({
      policy: { subagent_max_depth: 1 },
      origins: { subagent_max_depth: "project settings" },
    });
  });

  it.each([
    [own({ subagent_max_depth: 5 }), 5],
    [own({ subagent_max_depth: "5" }, "spawn-guard"), 5],
    [own({ subagent_max_depth: 1 }), 1],
    [own({ subagent_max_depth: 5 }, "not-spawn-guard@x"), 3],
    [own({ subagent_max_depth: 5 }, "spawn-guard-too"), 3],
    [{ pluginConfigs: [] }, 3],
    [{ pluginConfigs: { "spawn-guard@x": null } }, 3],
    [{ pluginConfigs: { "spawn-guard@x": { options: [5] } } }, 3],
    [{}, 3],
  ])("leaves what the user's own settings say: %j", (settings, depth) => {
    put(SETTINGS, env(DEPTH));
    put(USER, settings);
    expect(load({ SUBAGENT_MAX_DEPTH: "99" }).policy.subagent_max_depth).toBe(depth);
  });

  it.each([DEPTH, DEPTH.toLowerCase(), "Claude_Plugin_Option_Subagent_Max_Depth"])(
    "counts by its name in any letters, as Windows reads it: %s",
    (name) => {
      put(SETTINGS, env(name));
      expect(load({ SUBAGENT_MAX_DEPTH: "99" }).policy.subagent_max_depth).toBe(3);
    },
  );

  it("leaves the other options the user's", () => {
    put(SETTINGS, env(DEPTH));
    expect(load({ SUBAGENT_MAX_DEPTH: "99", MAX_CONCURRENT_SPAWNS: "50" }).policy).toMatchObject({
      subagent_max_depth: 3,
      max_concurrent_spawns: 50,
    });
  });

  it("counts as well where the project writes it as the host keeps a user's options", () => {
    put(SETTINGS, own({ subagent_max_depth: 99 }));
    put(USER, own({ subagent_max_depth: 2 }));
    expect(load({ SUBAGENT_MAX_DEPTH: "99" }).policy.subagent_max_depth).toBe(2);
  });

  it("that is empty does not take away what the user set", () => {
    put(SETTINGS, { env: { [DEPTH]: "" } });
    put(USER, own({ subagent_max_depth: 1 }));
    expect(load({ SUBAGENT_MAX_DEPTH: "" })).toMatchObject({
      policy: { subagent_max_depth: 1 },
      origins: { subagent_max_depth: "user settings" },
    });
  });

  it.each(["CLAUDE_CONFIG_DIR", "HOME", "USERPROFILE", "claude_config_dir"])(
    "beside a %s of the project's is looked up in the home folder that the system knows",
    (name) => {
      put(SETTINGS, env(DEPTH, name));
      put(USER, own({ subagent_max_depth: 99 }));
      put("home/settings.json", own({ subagent_max_depth: 1 }));
      const { policy, problems, projectKeys } = load({ SUBAGENT_MAX_DEPTH: "99" });
      expect(policy.subagent_max_depth).toBe(1);
      expect(problems).toEqual([expect.stringContaining("CLAUDE_CONFIG_DIR")]);
      // The environment outlives the file.
      put(SETTINGS, {});
      expect(load({ SUBAGENT_MAX_DEPTH: "99" }, projectKeys).policy.subagent_max_depth).toBe(1);
    },
  );

  it("beside a HOME of the project's does not take from the user what they set, whatever it is", () => {
    const user = { audit: "require", session_intent: "Read", subagent_max_depth: 1, audit_key_file: "/key" };
    const given = { AUDIT: "warn", SESSION_INTENT: "*", SUBAGENT_MAX_DEPTH: "99", AUDIT_KEY_FILE: "/nope" };
    put("home/settings.json", own(user));
    put(SETTINGS, env(...Object.keys(given).map((key) => `CLAUDE_PLUGIN_OPTION_${key}`), "HOME"));
    expect(load(given).policy).toEqual({ ...DEFAULT_POLICY, ...user });
  });

  it("beside a HOME of the project's is looked up in the CLAUDE_CONFIG_DIR that is the user's", () => {
    put(SETTINGS, env(DEPTH, "HOME"));
    put(USER, own({ subagent_max_depth: 1 }));
    const environment = { [DEPTH]: "99", CLAUDE_CONFIG_DIR: join(root, "config") };
    const { policy } = loadPolicy(environment, join(root, "project"), join(root, "config"));
    expect(policy.subagent_max_depth).toBe(1);
  });

  it.each([
    ["that is not there", null],
    ["that is no JSON", "{"],
    ["that is a list", "[]"],
  ])("is looked up in a file of the system's home %s: no spawn is admitted", (_, text) => {
    put(SETTINGS, env(DEPTH, "HOME"));
    if (text !== null) put("home/settings.json", text);
    const { policy, problems } = load({ SUBAGENT_MAX_DEPTH: "99" });
    expect(policy.subagent_max_depth).toBe(0);
    expect(problems).toEqual([expect.stringContaining(join(root, "home/settings.json"))]);
  });

  it("is looked up in a home that the system does not know: no spawn is admitted", () => {
    put(SETTINGS, env(DEPTH, "HOME"));
    const unknown = () => {
      throw new Error("no entry");
    };
    const { policy, problems } = loadPolicy(
      { [DEPTH]: "99" },
      join(root, "project"),
      join(root, "config"),
      [],
      unknown,
    );
    expect(policy.subagent_max_depth).toBe(0);
    expect(problems).toEqual([expect.stringContaining("No spawn is admitted")]);
  });

  it("is looked up in settings that cannot be read: the default holds, and it is said", () => {
    put(SETTINGS, env(DEPTH));
    put(USER, "{");
    const { policy, problems } = load({ SUBAGENT_MAX_DEPTH: "99" });
    expect(policy.subagent_max_depth).toBe(3);
    expect(problems).toEqual([expect.stringContaining(join(root, USER))]);
  });
});

describe("the project's settings", () => {
  it.each(["{", "[]"])(
    "that cannot be read may have named any option: none counts as the user's: %s",
    (text) => {
      put(SETTINGS, text);
      expect(load({ SUBAGENT_MAX_DEPTH: "7" }).policy.subagent_max_depth).toBe(3);
      expect(load({ SUBAGENT_MAX_DEPTH: "2" }).policy.subagent_max_depth).toBe(2);
    },
  );

  it.each(['{"env": null}', '{"env": ["CLAUDE_PLUGIN_OPTION_PAYLOAD_MODE"]}', '{"env": "x"}'])(
    "that say nothing of us change nothing: %s",
    (text) => {
      put(SETTINGS, text);
      expect(load({ SUBAGENT_MAX_DEPTH: "7" }).policy.subagent_max_depth).toBe(7);
    },
  );
});
