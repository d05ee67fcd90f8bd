/**
 * Builds the published package into `dist/`, or into the given folder: the compiled sources, and the files that they
 * read, at the same place relative to `dist/src` as in the repository relative to `src`. The command `tss` and the
 * service's threads are bundled into `program`, and the console into `console`. `build.json` has the commit, from
 * `SOURCE_COMMIT` or from git. It does not check types, because `npm run check` does.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";
import * as vite from "vite";
import { bundleProgram } from "./build/bundle-program.ts";
import { consoleConfig } from "./console/vite-config.ts";
import { sourceCommit } from "./source-commit.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const DIST = path.resolve(process.argv[2] ?? path.join(ROOT, "dist"));

// A wrong SOURCE_COMMIT ends the build before anything is removed.
const commit = sourceCommit(ROOT, process.env["SOURCE_COMMIT"]);
rmSync(DIST, { recursive: true, force: true });
const tsc = path.join(ROOT, "node_modules/.bin/tsc");
const { status } = spawnSync(tsc, ["-p", "tsconfig.build.json", "--outDir", DIST, "--noCheck"], {
  cwd: ROOT,
  stdio: "inherit",
});
if (status !== 0) process.exit(1);
await writeWorkerProgram();
await bundleProgram(ROOT, DIST);
await vite.build(consoleConfig(path.join(DIST, "console")));
const READ_FILES = ["gen/openapi.json", "gen/signer-openapi.json", "move/treasury/compiled.json"];
for (const place of ["prisma/migrations", ...READ_FILES]) {
  cpSync(path.join(ROOT, place), path.join(DIST, place), { recursive: true });
}
writeFileSync(path.join(DIST, "build.json"), `${JSON.stringify({ commit })}\n`);
chmodSync(path.join(DIST, "src/cli/main.js"), 0o755);

/** Bundles the worker's program into one script, for the entry that contains it, and as a file that a site can serve. */
async function writeWorkerProgram(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [path.join(DIST, "src/client/crypto/engines/engine-worker.js")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    nodePaths: [path.join(ROOT, "node_modules")],
    // A script is strict only if it says so. Without this, that depends on a tsconfig.json above the given folder.
    tsconfigRaw: { compilerOptions: { alwaysStrict: true } },
    legalComments: "inline",
  });
  const text = outputFiles[0]?.text ?? "";
  const module = path.join(DIST, "src/client/crypto/engines/engine-worker-program.js");
  writeFileSync(module, `export const ENGINE_WORKER_PROGRAM = ${JSON.stringify(text)};\n`);
  writeFileSync(path.join(DIST, "worker-program.js"), text);
}
