import type { Ask, Reply } from "../test/host/harness/scripted-model.ts";

/** The environment that takes the host's own depth cap out of the way: it would hide the guard's refusal. */
export const NO_HOST_CAP = { CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: "9" };

/**
 * A model that hands its whole job to another general-purpose agent, level after level, and says nothing of who
 * its parent is. One whose Agent call is refused does the work itself.
 */
export function handOn(ask: Ask): Reply {
  const level = Number(/LEVEL(\d)/.exec(ask.firstPrompt)?.[1] ?? 0);
  if (ask.turn === 0) {
    const input = {
      description: `hand the job to level ${level + 1}`,
      prompt: `LEVEL${level + 1} go on, please`,
      subagent_type: "general-purpose",
      run_in_background: false,
    };
    return { calls: [{ name: "Agent", input }] };
  }
  const [result] = ask.lastToolResults;
  if (result?.isError) {
    const heeds = result.text.includes("Do the work yourself");
    return {
      text: heeds ? `level ${level} was refused and did the work itself` : `level ${level} was refused`,
    };
  }
  const inner = /level \d was refused[a-z ]*/.exec(result?.text ?? "")?.[0];
  return { text: `level ${level} heard: ${inner ?? "nothing"}` };
}
