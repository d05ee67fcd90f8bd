import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

/** A page's bundle, in chunks. */
export interface PageBundle {
  /**
   * The size in kB of everything that a page loads to run its entry and the modules that it imports on demand: these
   * chunks and all their static imports, each compressed with `gzip -9`.
   */
  kilobytes(...onDemand: readonly string[]): number;
}

/** Bundles a page's program with an installed client, minified and in chunks, without further configuration. */
export async function bundlePage(program: string, folder: string): Promise<PageBundle> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: folder },
    bundle: true,
    minify: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    write: false,
    metafile: true,
    outdir: folder,
    // A page brings its own.
    external: ["react"],
    absWorkingDir: folder,
    logLevel: "error",
  });
  const sizes = new Map(
    outputFiles.map(({ path, contents }) => [
      path.slice(folder.length + 1),
      gzipSync(contents, { level: 9 }).length,
    ]),
  );
  return {
    kilobytes(...onDemand) {
      const entries = ["<stdin>", ...onDemand].map((name) => chunkOf(metafile, name));
      const bytes = [...staticChunks(metafile, entries)].map((chunk) => sizes.get(chunk)!);
      return bytes.reduce((sum, size) => sum + size, 0) / 1e3;
    },
  };
}

/** The chunk of the page's program, or of a module that it imports on demand. */
function chunkOf({ outputs }: Metafile, module: string): string {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(module));
  if (found === undefined) throw new Error(`no chunk begins with ${module}`);
  return found[0];
}

/** Chunks with all their static imports. */
function staticChunks({ outputs }: Metafile, entries: readonly string[]): ReadonlySet<string> {
  const chunks = new Set<string>();
  const waiting = [...entries];
  for (let chunk = waiting.pop(); chunk !== undefined; chunk = waiting.pop()) {
    if (chunks.has(chunk)) continue;
    chunks.add(chunk);
    for (const { kind, path, external } of outputs[chunk]?.imports ?? [])
      if (kind === "import-statement" && external !== true) waiting.push(path);
  }
  return chunks;
}
