import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { transform } from "esbuild";
import { expect } from "vitest";
import { runProgram } from "../../interop/run-program.ts";
import { compiledProgram } from "../environment.ts";
import { ROOT } from "./source-files.ts";

/**
 * Runs `main.ts` of an example in a folder with the files that a service leaves for its developers. Only its types are
 * erased. The example imports the package by its name, as this run has compiled it. Returns its output.
 */
export async function runExample(
  name: string,
  access: object,
  argv: readonly string[] = [],
): Promise<string> {
  // Below the repository, whose packages the example finds.
  mkdirSync(path.join(ROOT, ".data"), { recursive: true });
  const folder = mkdtempSync(path.join(ROOT, ".data/example-"));
  try {
    const own = path.join(folder, "node_modules/threshold-signing-service");
    for (const made of [".data", own]) mkdirSync(path.resolve(folder, made), { recursive: true });
    writeFileSync(path.join(folder, ".data/dev.json"), JSON.stringify(access));
    // Without its own package.json, the folder would be a part of the repository's package.
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
    symlinkSync(path.join(ROOT, "package.json"), path.join(own, "package.json"));
    symlinkSync(compiledProgram.folder()!, path.join(own, "dist"));
    const source = readFileSync(path.join(ROOT, "examples", name, "main.ts"), "utf8");
    const { code: program } = await transform(source, { loader: "ts", target: "esnext" });
    writeFileSync(path.join(folder, "main.js"), program);
    const { code, out, err } = await runProgram(
      process.execPath,
      ["--liftoff-only", "main.js", ...argv],
      "",
      {},
      { folder, timeoutMs: 300_000 },
    );
    expect({ name, code, err }).toEqual({ name, code: 0, err: "" });
    return out.toString();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
