import { basename } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

/** One built script, and what went into it. */
export type Bundle = {
  /** as in `plugin/hooks/pre-tool-use.cjs` */
  file: string;
  bytes: number;
  /** the source files that its code comes from, by path */
  modules: string[];
  /** how many of them are of which package */
  packages: Record<string, number>;
  /** Node's own modules that it names, without `node:` */
  builtins: string[];
  /** scripts beside it that it loads only when it needs them */
  parts: string[];
};

/** Where a script's code begins: a file, or a line of code that stands in a folder. */
export type Entry = { file: string } | { code: string; folder: string };

/**
 * Hooks load what only a few decisions need (the reader of agent files, the builder) from files beside them: a dynamic
 * import of a file that `filter` matches becomes the script `part-<name>.cjs`.
 */
export const lazyParts = (filter: RegExp): Plugin => ({
  name: "lazy-parts",
  setup({ onResolve }) {
    onResolve({ filter }, ({ kind, path }) => {
      if (kind !== "dynamic-import") return undefined;
      return { path: `./part-${basename(path, ".ts")}.cjs`, external: true };
    });
  },
});

/** gray-matter brings engines that evaluate what they read; the reader of agent files names its own (case 94). */
const noEngines: Plugin = {
  name: "no-engines",
  setup({ onLoad }) {
    onLoad({ filter: /gray-matter[\\/]lib[\\/]engines\.js$/ }, () => ({ contents: "module.exports = {};" }));
  },
};

/** Bundles one script; `options` are added to what all have in common. */
export async function bundle(
  file: string,
  entry: Entry,
  { plugins = [], ...options }: BuildOptions = {},
): Promise<Bundle> {
  const { metafile } = await build({
    bundle: true,
    platform: "node",
    target: "node20",
    // Node starts an ES module about 7 % slower.
    format: "cjs",
    legalComments: "none",
    logLevel: "warning",
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    keepNames: false,
    // A script that runs from compiled code has no module loader for import(); require does the same.
    supported: { "dynamic-import": false },
    plugins: [noEngines, ...plugins],
    ...options,
    ...("file" in entry
      ? { entryPoints: [entry.file] }
      : { stdin: { contents: entry.code, resolveDir: entry.folder, loader: "ts" as const } }),
    outfile: file,
    metafile: true,
  });
  return describe(file, metafile);
}

function describe(file: string, { outputs }: Metafile): Bundle {
  const [output] = Object.values(outputs);
  if (output === undefined) throw new Error(`${file} was not built`);
  const modules = Object.entries(output.inputs)
    .filter(([path, { bytesInOutput }]) => bytesInOutput > 0 && !path.endsWith("<stdin>"))
    .map(([path]) => path)
    .sort();
  const outside = [...new Set(output.imports.filter(({ external }) => external).map(({ path }) => path))];
  return {
    file,
    bytes: output.bytes,
    modules,
    packages: countPackages(modules),
    builtins: [...new Set(outside.filter((path) => !path.startsWith(".")).map(bare))].sort(),
    parts: outside.filter((path) => path.startsWith(".")).map((path) => basename(path)),
  };
}

const bare = (path: string) => path.replace(/^node:/, "");

function countPackages(modules: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const path of modules) {
    const name = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
