import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, it } from "vitest";

const ENTRY = `
export { covers, isSubset } from "./src/acs/capability.ts";
export { redact } from "./src/acs/redact.ts";
export { capabilitiesOf } from "./src/acs/rule-capabilities.ts";
`;

it("runs in a JavaScript engine that has neither Node nor modules", async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: ENTRY, resolveDir: process.cwd(), loader: "ts" },
    bundle: true,
    write: false,
    metafile: true,
    platform: "neutral",
    format: "iife",
    globalName: "acs",
    logLevel: "silent",
  });
  expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
  const source = `${outputFiles[0]?.text ?? ""}; JSON.stringify([
    acs.isSubset(acs.capabilitiesOf(["Read(src/**)"]), acs.capabilitiesOf(["Read(src/a b)"])),
    acs.covers({ resource: "file:./src/*" }, { resource: "file:./src/../a" }),
    acs.redact({ token: "abc", a: "x=1 TOKEN=abc" }),
    typeof process, typeof URL,
  ])`;
  expect(JSON.parse(String(runInContext(source, createContext(Object.create(null)))))).toEqual([
    true,
    false,
    { token: "[redacted:secret]", a: "x=1 TOKEN=[redacted:secret]" },
    "undefined",
    "undefined",
  ]);
});
