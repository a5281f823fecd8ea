import { readFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import standaloneCode from "ajv/dist/standalone/index.js";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/** exported function → schema file under plugin/schemas */
const VALIDATORS = {
  validateSpawnPayload: "spawn-payload.schema.json",
  validateReturnContract: "return-contract.schema.json",
};

/**
 * Compiles the schemas into one module without imports, so that checking a payload costs no schema
 * compilation and works where there is no Node. Returns the path of the file it wrote.
 */
export async function generateValidators(): Promise<string> {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    messages: false,
    verbose: true,
    code: { source: true, esm: true },
  });
  const ids: Record<string, string> = {};
  for (const [name, file] of Object.entries(VALIDATORS)) {
    ajv.addSchema(JSON.parse(await readFile(`${root}plugin/schemas/${file}`, "utf8")), file);
    ids[name] = file;
  }
  const outfile = `${root}src/payload/validators.generated.js`;
  await build({
    stdin: { contents: standaloneCode(ajv, ids), resolveDir: root, loader: "js" },
    bundle: true,
    format: "esm",
    platform: "neutral",
    target: "es2022",
    minifyWhitespace: true,
    legalComments: "none",
    outfile,
    logLevel: "error",
  });
  return outfile;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await generateValidators();
}
