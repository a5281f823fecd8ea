import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HAS_PYTHON, NEEDS_PYTHON, recomputed } from "../support/python-audit.ts";
import { guardedRun, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import { script } from "./harness/scripted-model.ts";
import { temporaryFolder } from "./harness/temporary-folder.ts";
import { bash, named } from "./model-calls.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

it.skipIf(!HAS_PYTHON)(
  `a nested run's signed chains are sound to the second implementation${NEEDS_PYTHON}`,
  async () => {
    const keyFile = join(temporaryFolder("key"), "key");
    writeFileSync(keyFile, "0123456789abcdef".repeat(4), { mode: 0o600 });
    const run = await guardedRun({
      prompt: "MAIN go",
      options: { subagent_max_depth: 2, audit_key_file: keyFile },
      model: script({
        "DEEPER go": [{ text: "never asked" }],
        "INNER go": [{ calls: [bash("true"), named("DEEPER")] }],
        "OUTER go": [{ calls: [named("INNER"), bash("true")] }],
        "BESIDE go": [{ calls: [bash("true")] }],
        MAIN: [{ calls: [named("OUTER"), named("BESIDE")] }],
      }),
    });
    expect(run.session).toMatchObject({ admitted: 3, refused: 1 });
    const folder = join(run.pluginData("spawn-guard"), "audit", run.sessionId);
    const { lines, ...summary } = recomputed(folder, keyFile);
    expect(summary).toMatchObject({
      exitCode: 0,
      problems: [],
      notices: [],
      pending: [],
      chains: 4,
      signatures: { checked: 2 * lines, unchecked: 0, unsigned: 0 },
      steps: { "steps/toolCallRequest": 4, "steps/subagentStart": 4, "steps/subagentStop": 4 },
    });
  },
);
