import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findTranscript } from "../../../src/transcript/transcript-place.ts";
import { folder } from "./lines.ts";

const SESSION = "0f0e0d0c-1111-4222-8333-444455556666";

function project(...files: string[]) {
  const root = join(folder(), "projects", "-home-me-app");
  for (const file of [`${SESSION}.jsonl`, ...files]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "{}\n");
  }
  const transcript = join(root, `${SESSION}.jsonl`);
  const find = (agent: string, given?: string | null) => findTranscript(transcript, SESSION, agent, given);
  return { root, find };
}

const FLAT = `${SESSION}/subagents/agent-b2.jsonl`;
const WORKFLOW = `${SESSION}/subagents/workflows/wf_7-1/agent-b2.jsonl`;
const OLD = "agent-b2.jsonl";

describe("a subagent's transcript", () => {
  it.each([
    ["in the session's folder", [FLAT], FLAT],
    ["in a workflow run's folder", [WORKFLOW, `${SESSION}/subagents/workflows/wf_6/journal.jsonl`], WORKFLOW],
    ["beside the session's, as older hosts write it", [OLD], OLD],
    ["in the session's folder before the older place", [OLD, FLAT], FLAT],
    ["not in a side file", [`${SESSION}/subagents/agent-b2.meta.json`], null],
    ["not in a journal", [`${SESSION}/subagents/workflows/wf_6/journal.jsonl`], null],
    ["not of an agent whose name begins alike", [`${SESSION}/subagents/agent-b22.jsonl`], null],
    ["not of another session", ["other/subagents/agent-b2.jsonl"], null],
  ])("is found %s", (_, files, expected) => {
    const { root, find } = project(...files);
    expect(find("b2")).toBe(expected && join(root, expected));
  });

  it.each([
    ["is one of its places", WORKFLOW, WORKFLOW],
    ["is one of its places, oddly written", `${SESSION}/x/../subagents/./agent-b2.jsonl`, FLAT],
    ["is another agent's", `${SESSION}/subagents/agent-c3.jsonl`, FLAT],
    ["is the session's own", `${SESSION}.jsonl`, FLAT],
    ["lies deeper", `${SESSION}/subagents/workflows/wf_7-1/deep/agent-b2.jsonl`, FLAT],
    ["lies in a run with an odd name", `${SESSION}/subagents/workflows/w f/agent-b2.jsonl`, FLAT],
    ["lies in another session", "other/subagents/agent-b2.jsonl", FLAT],
    ["climbs out", `${SESSION}/subagents/../../../agent-b2.jsonl`, FLAT],
    ["is not there yet", `${SESSION}/subagents/workflows/wf_9/agent-b2.jsonl`, FLAT],
  ])("named by an event is believed only as one of these places: it %s", (_, given, expected) => {
    const { root, find } = project(
      ...[FLAT, WORKFLOW, `${SESSION}/subagents/agent-c3.jsonl`, "other/subagents/agent-b2.jsonl"],
      ...[`${SESSION}/subagents/workflows/wf_7-1/deep/agent-b2.jsonl`, "../agent-b2.jsonl"],
      `${SESSION}/subagents/workflows/w f/agent-b2.jsonl`,
    );
    expect(find("b2", `${root}/${given}`)).toBe(join(root, expected));
  });

  it.each(["", "../b2", "b2/../b2", "b2\0", "..", "a".repeat(201), "b 2", "%62"])(
    "is not looked for under the id %j",
    (agent) => {
      const { root, find } = project(FLAT, OLD);
      expect(find(agent, join(root, OLD))).toBeNull();
    },
  );

  it("is not looked for beside another session's transcript", () => {
    const { root } = project(FLAT);
    expect(findTranscript(join(root, "else.jsonl"), SESSION, "b2")).toBeNull();
    expect(findTranscript("", SESSION, "b2")).toBeNull();
  });

  it.skipIf(process.platform === "win32")("is a regular file, no link, folder or pipe", () => {
    const { root, find } = project(OLD);
    const flat = join(root, FLAT);
    mkdirSync(join(flat, ".."), { recursive: true });
    symlinkSync("/etc/hostname", flat);
    expect(find("b2", flat)).toBe(join(root, OLD));
    mkdirSync(join(root, SESSION, "subagents", "agent-d4.jsonl"));
    execFileSync("mkfifo", [join(root, SESSION, "subagents", "agent-e5.jsonl")]);
    expect([find("d4"), find("e5")]).toEqual([null, null]);
  });

  it("is null where workflows is no folder", () => {
    expect(project(`${SESSION}/subagents/workflows`).find("b2")).toBeNull();
  });
});
