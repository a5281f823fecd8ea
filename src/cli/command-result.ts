/** What a command comes to; the entry writes it. Exit codes: 0 done, 1 refused, 2 wrong usage. */
export type CommandResult = { exitCode: 0 | 1 | 2; stdout: string; stderr: string };
