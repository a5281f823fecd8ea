/** The plugin's name as Claude Code puts it before an agent's: `spawn-guard:frontend-engineer`. */
export const PLUGIN_SCOPE = "spawn-guard:";
