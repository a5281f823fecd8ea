import { resolvePath } from "./path-pattern.ts";
import { type ToolUse, textInput } from "./tool-use.ts";

const SEARCH_TOOLS = ["Grep", "Glob", "LS"];
const NOTEBOOK_TOOLS = ["NotebookEdit", "NotebookRead"];

/** The file that a call of a reading or writing tool names; null when that cannot be told. */
export function writtenPath(tool: string, call: ToolUse): string[] | null {
  const path = textInput(call, NOTEBOOK_TOOLS.includes(tool) ? "notebook_path" : "file_path");
  return path === null ? null : resolvePath(path, call);
}

/** The folders that a searching tool goes through, each null when it cannot be told; null for other tools. */
export function searchPaths(tool: string, call: ToolUse): (string[] | null)[] | null {
  if (!SEARCH_TOOLS.includes(tool)) return null;
  const given: unknown = call.input.path;
  const path = given === undefined ? "." : textInput(call, "path");
  const folders = [path === null ? null : resolvePath(path, call)];
  if (tool === "Glob") {
    const pattern = textInput(call, "pattern");
    // A glob that starts elsewhere or climbs out searches other folders than its path says.
    if (pattern === null || /^[\s/~]|^[A-Za-z]:|\\|\.\./.test(pattern)) folders.push(null);
  }
  return folders;
}
