/**
 * Runs `tss` of this checkout: the compiled program if no source is newer, and else the sources, which takes some
 * seconds longer to start. `npm run build` compiles. Plain JavaScript, because compiling TypeScript is what it saves.
 */
import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const ROOT = path.resolve(import.meta.dirname, "..");
const COMPILED = path.join(ROOT, "dist/src/cli/main.js");
/** What the compiled program is made from. */
const SOURCES = ["src", "gen", "prisma/migrations", "move/treasury/compiled.json", "package-lock.json"];

if (isCompiled()) {
  await import(pathToFileURL(COMPILED).href);
} else {
  const { register } = await import("tsx/esm/api");
  register();
  await import(pathToFileURL(path.join(ROOT, "src/cli/main.ts")).href);
}

function isCompiled() {
  const built = statSync(path.join(ROOT, "dist/build.json"), { throwIfNoEntry: false });
  return built !== undefined && SOURCES.every((source) => newestIn(path.join(ROOT, source)) <= built.mtimeMs);
}

/** When the newest file or folder below a path was changed, in milliseconds. A folder changes when a file is removed. */
function newestIn(place) {
  const { mtimeMs } = statSync(place);
  if (!statSync(place).isDirectory()) return mtimeMs;
  const entries = readdirSync(place, { recursive: true });
  return entries.reduce(
    (newest, entry) => Math.max(newest, statSync(path.join(place, entry)).mtimeMs),
    mtimeMs,
  );
}
