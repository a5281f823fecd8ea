import { writeSync } from "node:fs";
import { argv } from "node:process";
import { countUp, talliesAt } from "./tallies.ts";

/** Counts in a shared cell under its own name, and says each number once it is committed. */
const [, , folder = "", name = "", times = "0"] = argv;
const cell = talliesAt(folder);
for (let number = 1; number <= Number(times); number++) {
  countUp(cell, name, number);
  writeSync(1, `${number}\n`);
}
