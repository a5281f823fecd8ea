import { homedir } from "node:os";
import { join } from "node:path";
import { ownPlaces } from "./build-world.ts";
import { configFolder } from "./config-folder.ts";
import type { ContextIo } from "./context-command.ts";
import { decodeText } from "./decode-text.ts";
import { readRegularFile } from "./read-bytes.ts";

/** The real world for `context`. */
export function contextWorld(pluginRoot: string, cwd: string): ContextIo {
  return {
    cwd,
    home: homedir(),
    configFolder: configFolder(process.env),
    agentsDir: join(pluginRoot, "agents"),
    places: ownPlaces(cwd),
    now: () => new Date(),
    read: (path) => decodeText(readRegularFile(path)),
  };
}
