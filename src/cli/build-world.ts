import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { customAlphabet } from "nanoid";
import { type AgentPlace, agentPlaces } from "../roles/agent-places.ts";
import type { BuildIo } from "./build-command.ts";
import { configFolder } from "./config-folder.ts";
import { readRegularFile, readStandardInput } from "./read-bytes.ts";

const randomRun = customAlphabet("0123456789abcdefghijklmnopqrstuvwxyz", 6);

/**
 * The real world for `build`: files, clock, randomness.
 *
 * @param pluginRoot the folder of the installed plugin
 * @param cwd what relative paths in arguments are relative to
 * @throws when the plugin's manifest cannot be read or has no name
 */
export function buildWorld(pluginRoot: string, cwd: string): BuildIo {
  return {
    readStdin: readStandardInput,
    readFile: (path) => readRegularFile(resolve(cwd, path)),
    now: () => new Date(),
    random: () => randomRun(),
    agentsDir: join(pluginRoot, "agents"),
    places: ownPlaces(cwd),
    pluginName: readPluginName(pluginRoot),
  };
}

/** The agent folders of the project that the command runs in, and of the user. */
export function ownPlaces(cwd: string): AgentPlace[] {
  return agentPlaces(cwd, configFolder(process.env), homedir());
}

/** The name by which the host knows the plugin: its manifest's. */
export function readPluginName(pluginRoot: string): string {
  const file = join(pluginRoot, ".claude-plugin", "plugin.json");
  const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (typeof manifest === "object" && manifest !== null && "name" in manifest) {
    const { name } = manifest;
    if (typeof name === "string" && name !== "") return name;
  }
  throw new Error(`${file} has no name; install the plugin again`);
}
