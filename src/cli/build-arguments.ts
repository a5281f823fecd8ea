/** Where a foreign text or a state slice comes from. */
export type TextSource =
  | { from: "file"; path: string }
  | { from: "stdin" }
  | { from: "arguments"; text: string };

/** The arguments of `spawn-guard build`, however they were given. Bounds are checked later. */
export type BuildArguments = {
  /** left out, the stack chooses it; one of the two is there */
  role?: string | undefined;
  task: string;
  stack?: string | undefined;
  maxTokens?: number | undefined;
  maxOutput?: number | undefined;
  maxToolCalls?: number | undefined;
  maxTurns?: number | undefined;
  timeoutMs?: number | undefined;
  parentTraceId?: string | undefined;
  /** six of 0-9a-z and the number in that run; one without the other would make names that collide */
  run?: string | undefined;
  seq?: number | undefined;
  constraints: string[];
  state?: StateSource | undefined;
  untrusted: { label: string; text: Exclude<TextSource, { from: "stdin" }> }[];
};

export type StateSource =
  | Exclude<TextSource, { from: "arguments" }>
  | { from: "arguments"; slice: Record<string, unknown> };

/** `usage` is for people who wrote the command: which argument, what is wrong, what to write instead. */
export type ParsedArguments =
  | { kind: "arguments"; arguments: BuildArguments }
  | { kind: "help"; text: string }
  | { kind: "usage"; problem: string };
