/**
 * Compiles the program once for all suites of a run that start services, because compiled services start much faster.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import path from "node:path";
import { compiledProgram } from "../environment.ts";
import { ROOT } from "./source-files.ts";

/** Compiles unless another suite's setup already has. Returns the function that removes the result. */
export default function setup(): () => void {
  if (compiledProgram.read() !== undefined) return () => {};
  // The output is inside the package, so that the program finds its dependencies and its own package.json.
  const folder = path.join(ROOT, ".data", `test-program-${process.pid}`);
  execFileSync(process.execPath, ["--import", "tsx", "tools/build.ts", folder], {
    cwd: ROOT,
    stdio: "inherit",
  });
  compiledProgram.write(path.join(folder, "src/cli/main.js"));
  return () => rmSync(folder, { recursive: true, force: true });
}
