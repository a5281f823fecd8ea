import { fileURLToPath } from "node:url";
import { VERSION } from "../version.ts";
import { runCli } from "./run-cli.ts";

// A reader that has seen enough (`spawn-guard roles | head -1`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") return;
  process.stderr.write(`spawn-guard: standard output cannot be written (${error.code}); nothing was done\n`);
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const cwd = workingFolder();
  if (cwd === null) {
    process.stderr.write("spawn-guard: the working folder is not there any more; change to one that is\n");
    process.exitCode = 1;
    return;
  }
  const result = await runCli(
    process.argv.slice(2),
    // The built file stands in plugin/cli.
    { pluginRoot: fileURLToPath(new URL("..", import.meta.url)), cwd },
    VERSION,
  );
  // Never process.exit: it would cut output that a pipe has not taken yet.
  process.exitCode = result.exitCode;
  process.stderr.write(result.stderr);
  process.stdout.write(result.stdout);
}

/** Null where the folder that the process was started in has been removed. */
function workingFolder(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

void main();
