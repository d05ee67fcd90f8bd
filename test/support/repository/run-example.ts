import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { runProgram } from "../../interop/run-program.ts";
import { packagePaths } from "./package-paths.ts";
import { ROOT } from "./source-files.ts";

/**
 * Runs `main.ts` of an example unchanged, in a folder with the files that a service leaves for its developers. The
 * example imports the package by its name, which is mapped to the sources. Returns its output.
 */
export async function runExample(
  name: string,
  access: object,
  argv: readonly string[] = [],
): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), "example-"));
  try {
    mkdirSync(path.join(folder, ".data"));
    writeFileSync(path.join(folder, ".data/dev.json"), JSON.stringify(access));
    const tsconfig = path.join(folder, "tsconfig.json");
    writeFileSync(tsconfig, JSON.stringify({ compilerOptions: { paths: packagePaths() } }));
    const tsx = fileURLToPath(import.meta.resolve("tsx"));
    const program = path.join(ROOT, "examples", name, "main.ts");
    const { code, out, err } = await runProgram(
      process.execPath,
      ["--import", tsx, program, ...argv],
      "",
      { TSX_TSCONFIG_PATH: tsconfig },
      { folder, timeoutMs: 300_000 },
    );
    expect({ name, code, err }).toEqual({ name, code: 0, err: "" });
    return out.toString();
  } finally {
    rmSync(folder, { recursive: true });
  }
}
