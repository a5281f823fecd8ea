import { readFileSync } from "node:fs";
import { isJson, type Json } from "../ledger/shape.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

/**
 * A settings file changed while the session runs. A change that would switch the guard off is kept out: any agent
 * can write such a file, and the host would follow it at once (host facts, "What a repository can do"). At start-up
 * nothing can keep it out.
 */
export const hook: Hook = {
  event: "ConfigChange",
  handle: ({ raw }, context) => {
    // What the file puts into the environment now is the project's word, also when it is gone from there again.
    context.resolvedPolicy();
    const { file_path: file, source } = raw;
    // An administrator's policy is nobody's to hold back.
    if (typeof file !== "string" || source === "policy_settings") return {};
    const why = switchesOff(file);
    if (why === null) return {};
    const message = `spawn-guard kept a settings change out of this session: ${file} ${why}. It counts from the next start; undo it if it is not yours.`;
    return { block: message, message };
  },
  onError: silentOnError,
};

function switchesOff(file: string): string | null {
  let settings: Json;
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
    settings = isJson(value) ? value : {};
  } catch {
    // Deleted or broken: the host has nothing to follow either.
    return null;
  }
  if (settings.disableAllHooks === true) return "sets disableAllHooks";
  const plugins = isJson(settings.enabledPlugins) ? Object.entries(settings.enabledPlugins) : [];
  const off = plugins.find(([name, enabled]) => enabled === false && /^spawn-guard(@|$)/.test(name));
  return off === undefined ? null : `disables the plugin ${off[0]}`;
}
