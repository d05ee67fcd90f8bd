import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as esbuild from "esbuild";
import * as vite from "vite";
import webpack from "webpack";

/** A bundler without configuration: takes an entry and an output folder. */
export type Bundle = (folder: string) => Promise<void>;

/** Each bundler makes `page.js` for `index.html`, in the folder `out` of the given folder. */
export const BUNDLERS: Readonly<Record<string, Bundle>> = {
  async vite(folder) {
    await vite.build({ root: folder, configFile: false, logLevel: "error", build: { outDir: "out" } });
  },
  async esbuild(folder) {
    await esbuild.build({
      entryPoints: [path.join(folder, "page.js")],
      bundle: true,
      format: "esm",
      outdir: path.join(folder, "out"),
      logLevel: "error",
    });
    cpSync(path.join(folder, "index.html"), path.join(folder, "out/index.html"));
  },
  async webpack(folder) {
    const output = { path: path.join(folder, "out"), filename: "page.js" };
    const compiler = webpack({ mode: "production", context: folder, entry: "./page.js", output });
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
      compiler?.run((error, result) => (error ? reject(error) : resolve(result)));
    });
    if (stats?.hasErrors() !== false) throw new Error(stats?.toString({ all: false, errors: true }));
    cpSync(path.join(folder, "index.html"), path.join(folder, "out/index.html"));
  },
};

/** Lays the page's sources out beside the installed client. */
export function layOutPage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  cpSync(path.join(import.meta.dirname, "page.mjs"), path.join(folder, "page.js"));
  writeFileSync(
    path.join(folder, "index.html"),
    '<!doctype html><meta charset="utf-8"><title>page</title><script type="module" src="./page.js"></script>',
  );
}
