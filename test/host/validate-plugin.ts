import { spawnSync } from "node:child_process";
import { claudeProgram, installClaude } from "./harness/claude-program.ts";

// Claude Code's own check of the manifest, the hooks and the frontmatter.
installClaude();
const { status } = spawnSync(claudeProgram(), ["plugin", "validate", "plugin"], { stdio: "inherit" });
process.exitCode = status ?? 1;
