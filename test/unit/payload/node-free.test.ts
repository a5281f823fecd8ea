import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { aPayload } from "./samples.ts";

it("runs in a JavaScript engine that has neither Node nor modules", async () => {
  const folder = fileURLToPath(new URL("../../../src/payload", import.meta.url));
  const { outputFiles } = await build({
    stdin: {
      contents: [
        'export { checkPayload, checkContract } from "./validate.ts";',
        'export { formatProblems } from "./format-problems.ts";',
        'export { findBlock, renderBlock, replaceBlock } from "./prompt-block.ts";',
        'export { formatTraceId } from "./trace-id.ts";',
        'export { buildPayload } from "./build-payload.ts";',
        'export { buildAgentCall } from "./agent-call.ts";',
      ].join("\n"),
      resolveDir: folder,
      loader: "ts",
    },
    bundle: true,
    write: false,
    platform: "neutral",
    format: "iife",
    globalName: "payload",
    logLevel: "silent",
  });
  const context = createContext(Object.create(null));
  runInContext(outputFiles[0]?.text ?? "", context);
  const answer: unknown = JSON.parse(
    runInContext(
      `const given = ${JSON.stringify(aPayload())};
       const prompt = "do\\n" + payload.renderBlock(given);
       JSON.stringify([
         payload.checkPayload(payload.findBlock(prompt).json).ok,
         payload.formatProblems(payload.checkPayload({ ...given, goal: "no" }).problems),
         payload.checkContract({}).ok,
         typeof process, typeof require,
       ])`,
      context,
    ),
  );
  expect(answer).toEqual([true, 'goal "no" has 2 characters; at least 10', false, "undefined", "undefined"]);
});
