import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { AGENT, folder, messageLine } from "../../unit/transcript/lines.ts";

const MB = 1024 * 1024;

const READER = `
import { readTranscript } from "./src/transcript/read-transcript.ts";
import { newTranscriptState } from "./src/transcript/transcript-state.ts";
import { usageTotals } from "./src/transcript/usage.ts";
const [file, rounds] = process.argv.slice(2);
readTranscript("/dev/null", newTranscriptState(0));
const before = process.memoryUsage.rss();
let state = newTranscriptState(0);
for (let round = 0; round < Number(rounds); round++) state = readTranscript(file, state);
const grown = process.resourceUsage().maxRSS * 1024 - before;
console.log(JSON.stringify({ grown, offset: state.offset, totals: usageTotals(state.meter, true) }));
`;

type Measured = {
  grown: number;
  offset: number;
  totals: { messages: number; input: number; output: number };
};

/** Tool results of 60 kB, a message after each; a tool result and a message of 21 MB among them. */
function hugeTranscript(file: string): { bytes: number; messages: number } {
  const out = openSync(file, "w");
  let bytes = 0;
  let messages = 0;
  const put = (line: string) => {
    bytes += writeSync(out, `${line}\n`);
  };
  const message = (size: number) => {
    put(
      messageLine(`msg_${messages}`, {
        usage: { input: 100 + 12 * messages, output: 2 },
        text: "w".repeat(size),
      }),
    );
    messages += 1;
  };
  const result = (size: number) =>
    put(JSON.stringify({ agentId: AGENT, toolUseResult: 'say "x"\n'.repeat(size / 8), type: "user" }));
  result(21 * MB);
  message(21 * MB);
  while (bytes < 100 * MB) {
    result(60_000);
    message(3000);
  }
  closeSync(out);
  return { bytes, messages };
}

describe("a transcript of 100 MB with lines of 21 MB", () => {
  const file = join(folder(), `agent-${AGENT}.jsonl`);
  const reader = join(folder(), "reader.mjs");
  let written = { bytes: 0, messages: 0 };

  beforeAll(async () => {
    written = hugeTranscript(file);
    await build({
      stdin: { contents: READER, resolveDir: process.cwd(), loader: "ts" },
      ...{ bundle: true, platform: "node", format: "esm", outfile: reader, logLevel: "error" },
    });
  });

  it.each([1, 2])("is read in less than 64 MB of memory, in %i rounds", (rounds) => {
    const heap = "--max-old-space-size=32";
    const printed = execFileSync(process.execPath, [heap, reader, file, `${rounds}`], { encoding: "utf8" });
    const { grown, offset, totals }: Measured = JSON.parse(printed);
    expect(grown).toBeLessThan(64 * MB);
    expect(offset).toBe(written.bytes);
    expect(totals).toMatchObject({
      messages: written.messages,
      input: 10 * (written.messages - 1),
      output: 2 * written.messages,
    });
  });
});
