// npx tsx test/host/harness/record.ts [scenario…]: writes test/recordings/<scenario>.ndjson, all by default.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { installClaude } from "./claude-program.ts";
import { recording } from "./recording.ts";
import { runScenario, type ScenarioName, scenarios } from "./scenarios.ts";

installClaude();
const names = Object.keys(scenarios) as ScenarioName[];
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in scenarios));
if (unknown.length > 0)
  throw new Error(`no such scenario: ${unknown.join(", ")}; there are ${names.join(", ")}`);
for (const name of names.filter((name) => wanted.length === 0 || wanted.includes(name))) {
  const run = await runScenario(name);
  const lines = recording(run);
  writeFileSync(
    join(import.meta.dirname, "../../recordings", `${name}.ndjson`),
    lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  console.log(`${name}: ${lines.length} hook calls`);
  run.cleanup();
}
