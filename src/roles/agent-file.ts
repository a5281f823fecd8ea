import { type FieldReader, isNothing, readInteger, readText, readTools } from "./agent-fields.ts";
import { readFrontmatter } from "./frontmatter.ts";
import type { FrontmatterFields } from "./frontmatter-yaml.ts";
import { nearKnownKey } from "./near-key.ts";
import type { AgentFile, AgentFileProblem, Role } from "./role.ts";

/** Characters (code points); a longer description is paid for in every request of every session (case 99). */
const DESCRIPTION_ADVICE = 1024;

/** DESIGN, "Payload": max_output_tokens 50..8192. */
const OUTPUT_TOKENS = { min: 50, max: 8192 };

/** Claude Code drops these in the agents of a plugin, without a word (case 87). */
const IGNORED_IN_PLUGINS = ["hooks", "mcpServers", "permissionMode"];

/**
 * Reads an agent file's text into a role. Pure; never throws.
 *
 * `role` is null exactly when a problem is an error (or the text has no frontmatter, a warning): a file that
 * cannot be read in full must never become a role with fewer restrictions than it asks for (case 76).
 *
 * @param file how problems name the file; nothing is read from it
 */
export function parseAgentFile(text: string, file: string, origin: Role["origin"]): AgentFile {
  const frontmatter = readFrontmatter(text);
  if (frontmatter.kind === "absent") {
    const message = "no frontmatter, so no agent; skipped";
    return { role: null, problems: [{ file, line: 1, severity: "warning", message }] };
  }
  if (frontmatter.kind === "broken") {
    const { line, message } = frontmatter;
    return { role: null, problems: [{ file, line, severity: "error", message }] };
  }

  const problems: AgentFileProblem[] = [];
  const reader: FieldReader = {
    fields: frontmatter.fields,
    report: (severity, line, message) => problems.push({ file, line, severity, message }),
  };
  const role: Role = {
    name: readName(reader),
    origin,
    description: readDescription(reader),
    tools: readTools(reader, "tools"),
    disallowedTools: readTools(reader, "disallowedTools") ?? [],
    model: readText(reader, "model"),
    maxTurns: readInteger(reader, "maxTurns", { min: 1, max: Number.MAX_SAFE_INTEGER }),
    maxOutputTokens: readInteger(reader, "max_output_tokens", OUTPUT_TOKENS),
  };
  warnOfTools(reader, role);
  warnOfKeys(reader, origin);
  const failed = problems.some((problem) => problem.severity === "error");
  return { role: failed ? null : role, problems: problems.sort((a, b) => a.line - b.line) };
}

function readName({ fields, report }: FieldReader): string {
  const name = readText({ fields, report }, "name");
  const line = lineOf(fields, "name");
  if (name === null) {
    // a name of the wrong type has been reported already
    if (isNothing(fields.get("name")?.value)) {
      report("error", line, "name is missing; add `name: my-agent`");
    }
    return "";
  }
  if (name.includes(":")) {
    const bare = JSON.stringify(name);
    report(
      "error",
      line,
      `name ${bare} has a colon, which parts a plugin from its agent; write the bare name`,
    );
  } else if (!/^[A-Za-z0-9][A-Za-z0-9-]*$/.test(name)) {
    const shown = JSON.stringify(name);
    report(
      "error",
      line,
      `name ${shown} may hold only ASCII letters, digits and hyphens; write one like my-agent`,
    );
  }
  return name;
}

function readDescription({ fields, report }: FieldReader): string {
  const written = readText({ fields, report }, "description");
  // a description of the wrong type has been reported already
  if (written === null && !isNothing(fields.get("description")?.value)) return "";
  const description = written?.trim() ?? "";
  const line = lineOf(fields, "description");
  const length = [...description].length;
  if (length === 0) {
    report("warning", line, "description is missing; say in a sentence when to use this agent");
  } else if (length > DESCRIPTION_ADVICE) {
    report(
      "warning",
      line,
      `description has ${length} characters and is paid for in every session; keep it to ${DESCRIPTION_ADVICE}`,
    );
  }
  return description;
}

function warnOfTools({ fields, report }: FieldReader, role: Role): void {
  const line = lineOf(fields, "tools");
  if (isNothing(fields.get("tools")?.value)) {
    const mayNotSpawn = role.disallowedTools.some((tool) => tool === "Agent" || tool === "Task");
    const inherited = mayNotSpawn
      ? "all tools but its disallowedTools"
      : "all tools, including the spawn tool";
    report("warning", line, `tools is not set, so the agent inherits ${inherited}; list the tools it needs`);
  } else if (role.tools?.length === 0) {
    report("warning", line, "tools is empty, so the agent has no tools; list those it needs");
  }
}

function warnOfKeys({ fields, report }: FieldReader, origin: Role["origin"]): void {
  for (const [key, { line }] of fields) {
    const near = nearKnownKey(key);
    if (near !== null) {
      report("warning", line, `key \`${key}\` is unknown and has no effect; did you mean \`${near}\`?`);
    }
    if (origin === "plugin" && IGNORED_IN_PLUGINS.includes(key)) {
      report("warning", line, `\`${key}\` is ignored by Claude Code in a plugin's agent; remove it`);
    }
  }
}

function lineOf(fields: FrontmatterFields, key: string): number {
  return fields.get(key)?.line ?? 1;
}
