import { argv } from "node:process";
import { Chain } from "../../../src/acs/chain.ts";
import { callStep, rootStep } from "../../support/chain-steps.ts";

/** Appends receipts to a chain under its own name, one after another, and says each that is in. */
const [, , folder = "", name = "", times = "0"] = argv;
for (let number = 0; number < Number(times); number++) {
  const chain = new Chain(folder, { signer: null, deadline: Date.now() + 60_000, segmentBytes: 50_000 });
  chain.append([callStep(`${name}.${number}`)], rootStep);
  process.stdout.write(`${[`${name}.${number}`, ...chain.notes].join(" ")}\n`);
}
