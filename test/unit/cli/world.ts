import { fileURLToPath } from "node:url";
import type { BuildIo } from "../../../src/cli/build-command.ts";

export const PLUGIN_ROOT = fileURLToPath(new URL("../../../plugin/", import.meta.url));

/** A world of given files and standard input, on a given day, with the plugin's real roles. */
export function aWorld(
  given: { stdin?: string | Uint8Array; files?: Record<string, string | Uint8Array> } & Partial<BuildIo> = {},
): BuildIo {
  const { stdin, files, ...changes } = given;
  return {
    readStdin: stdin === undefined ? null : () => bytes(stdin),
    readFile: (path) => {
      const content = files?.[path];
      if (content === undefined) throw new Error(`no such file: ${path}`);
      return bytes(content);
    },
    now: () => new Date("2026-04-27T12:00:00Z"),
    random: () => "abc123",
    agentsDir: `${PLUGIN_ROOT}agents`,
    places: [],
    pluginName: "spawn-guard",
    ...changes,
  };
}

function bytes(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}
