import type { Role } from "./role.ts";

/** The plugin's own roles as their files said at build, each with its file's checksum. */
export declare const PLUGIN_ROLES: readonly { role: Role; checksum: string }[];
