import { afterAll, beforeAll, expect, it } from "vitest";
import { agentCall, guardedRun, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import { script } from "./harness/scripted-model.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

const agent = (name: string, tools: string) =>
  `---\nname: ${name}\ndescription: Use for ${name}.\ntools: ${tools}\n---\nWork.\n`;
const REPOSITORY = { ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "" };

it("the host takes agent files of the session's folder and of those above it, and the guard takes the same", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      MAIN: [{ calls: ["far", "both", "Explore"].map((type) => agentCall(type, `ONE ${type}`)) }],
    }),
    folder: "part",
    projectFiles: {
      ...REPOSITORY,
      ".claude/agents/far.md": agent("far", "Read"),
      ".claude/agents/both.md": agent("both", "Read"),
      ".claude/agents/deep/x.md": agent("Explore", "Glob"),
      "part/.claude/agents/both.md": agent("both", "Grep"),
    },
  });
  const tools = Object.fromEntries(run.spawns.map(({ role, payload }) => [role, payload.allowed_tools]));
  expect(tools).toEqual({ far: ["Read"], both: ["Grep"], Explore: ["Glob"] });
  for (const [type, allowed] of Object.entries(tools))
    expect(run.asks.find(({ firstPrompt }) => firstPrompt.startsWith(`ONE ${type}`))?.tools).toEqual(allowed);
});

it("the host starts one of two files with one name without a word, so the guard refuses it", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      MAIN: [
        { calls: [agentCall("twin", "ONE")] },
        ({ lastToolResults }) => ({ text: lastToolResults[0]?.text ?? "" }),
      ],
    }),
    projectFiles: {
      ".claude/agents/a.md": agent("twin", "Read"),
      ".claude/agents/b.md": agent("twin", "Read, Bash"),
    },
  });
  expect(run.result).toMatch(/name twin is taken by .*a\.md, with other tools or limits/);
  expect(run.spawns).toEqual([]);
});
