import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { replay } from "./replay.ts";

const values = readOptions();
const plugin = resolve("plugin");

const print = (text: string) => console.log(text);
const held = values.host
  ? await (await import("./in-host.ts")).inHost(plugin, values.record ?? false, print)
  : await replay(plugin, print);

print(
  held
    ? "\nThe fourth nested spawn was refused."
    : "\nThe fourth nested spawn was NOT refused: the guard does not hold.",
);
process.exitCode = held ? 0 : 1;

function readOptions(): { host?: boolean; record?: boolean } {
  try {
    return parseArgs({ options: { host: { type: "boolean" }, record: { type: "boolean" } } }).values;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(`demo: ${why}\nUsage: npm run demo [-- --host [--record]]`);
    process.exit(2);
  }
}
