import { resolvePath } from "./path-pattern.ts";
import { type ToolUse, textInput } from "./tool-use.ts";

const SEARCH_TOOLS = ["Grep", "Glob", "LS"];
const NOTEBOOK_TOOLS = ["NotebookEdit", "NotebookRead"];

/** The file that a call of a reading or writing tool names; null when that cannot be told. */
export function writtenPath(tool: string, call: ToolUse): string[] | null {
  const path = textInput(call, NOTEBOOK_TOOLS.includes(tool) ? "notebook_path" : "file_path");
  return path === null ? null : resolvePath(path, call);
}

/** The folder that a searching tool goes through in a list of one, null when it cannot be told; null for other tools. */
export function searchPaths(tool: string, call: ToolUse): (string[] | null)[] | null {
  if (!SEARCH_TOOLS.includes(tool)) return null;
  const given: unknown = call.input.path;
  const path = given === undefined ? "." : textInput(call, "path");
  const folder = path === null ? null : resolvePath(path, call);
  if (tool !== "Glob" || folder === null) return [folder];
  const head = globFolder(textInput(call, "pattern"));
  return [head === null ? null : [...folder, ...head]];
}

/** The folders that a glob names before its first wildcard; null for one that starts elsewhere or climbs out. */
function globFolder(glob: string | null): string[] | null {
  if (glob === null || /^[\s/~]|^[A-Za-z]:|\\|\.\./.test(glob)) return null;
  const folders = glob.split("/").slice(0, -1);
  const wild = folders.findIndex((name) => !/^[\w.@ -]+$/.test(name));
  return folders.slice(0, wild === -1 ? undefined : wild).filter((name) => name !== ".");
}
