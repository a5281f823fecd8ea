import { dirname, join } from "node:path";
import { buildWorld } from "../cli/build-world.ts";
import { type SkillResult, skillResult } from "../cli/skill-result.ts";
import { MAX_CONTEXT } from "./answer.ts";

/**
 * What /subagent-spawn hands to the model, made from the raw argument text. Loaded only when the skill is called:
 * it brings the builder and its parsers along.
 */
export function skillAnswer(rawArguments: string, typed: boolean, cwd: string): SkillResult {
  const pluginRoot = join(dirname(process.argv[1] ?? ""), "..");
  return skillResult(rawArguments, typed, buildWorld(pluginRoot, cwd), MAX_CONTEXT);
}
