/**
 * Builds the published package into `dist/`, or into the folder that is named: the compiled sources, and beside them the files that they read, at the
 * same place relative to `dist/src` as in the repository relative to `src`.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, rmSync } from "node:fs";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "..");
const DIST = path.resolve(process.argv[2] ?? path.join(ROOT, "dist"));

rmSync(DIST, { recursive: true, force: true });
const tsc = path.join(ROOT, "node_modules/.bin/tsc");
const { status } = spawnSync(tsc, ["-p", "tsconfig.build.json", "--outDir", DIST], {
  cwd: ROOT,
  stdio: "inherit",
});
if (status !== 0) process.exit(1);
for (const place of ["prisma/migrations", "gen/openapi.json"]) {
  cpSync(path.join(ROOT, place), path.join(DIST, place), { recursive: true });
}
chmodSync(path.join(DIST, "src/cli/main.js"), 0o755);
