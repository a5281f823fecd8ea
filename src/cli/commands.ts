import type { CommandResult } from "./command-result.ts";

/** Where the CLI runs. */
export type CliPlace = {
  /** the folder of the installed plugin */
  pluginRoot: string;
  cwd: string;
};

export type CliCommand = {
  name: string;
  summary: string;
  /** Loads the command's code only when it runs. `argv` is what follows the name. */
  run: (argv: readonly string[], place: CliPlace) => Promise<CommandResult>;
};

/** One line of `spawn-guard --help` each. */
export const COMMANDS: readonly CliCommand[] = [
  {
    name: "build",
    summary: "build a spawn payload and the Agent call that carries it",
    run: async (argv, { pluginRoot, cwd }) => {
      const [{ runBuild }, { buildWorld }] = await Promise.all([
        import("./build-command.ts"),
        import("./build-world.ts"),
      ]);
      return runBuild(argv, buildWorld(pluginRoot, cwd));
    },
  },
  {
    name: "roles",
    summary: "list roles and agents with their budgets, or choose one for a task",
    run: async (argv, { pluginRoot, cwd }) => {
      const [{ runRoles }, { ownPlaces }] = await Promise.all([
        import("./roles-command.ts"),
        import("./build-world.ts"),
      ]);
      return runRoles(argv, { pluginRoot, cwd, places: ownPlaces(cwd) });
    },
  },
  {
    name: "context",
    summary: "print what a project's texts say that matters to a role, as marked data",
    run: async (argv, { pluginRoot, cwd }) => {
      const [{ runContext }, { contextWorld }] = await Promise.all([
        import("./context-command.ts"),
        import("./context-world.ts"),
      ]);
      return runContext(argv, contextWorld(pluginRoot, cwd));
    },
  },
  {
    name: "audit",
    summary: "verify, show or export the receipts of a session's spawns",
    run: async (argv) => {
      const [{ runAudit }, { configFolder }] = await Promise.all([
        import("./audit-command.ts"),
        import("./config-folder.ts"),
      ]);
      return runAudit(argv, {
        environment: process.env,
        configFolder: configFolder(process.env),
      });
    },
  },
];
