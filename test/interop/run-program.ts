import { execFile } from "node:child_process";
import { programEnvironment } from "../support/environment.ts";

/** The output of a program, and how it ended. */
export interface ProgramRun {
  readonly code: number;
  readonly out: Buffer;
  readonly err: string;
}

/** No reply of the tests is larger. */
const OUTPUT_MAX_BYTES = 16 * 1024 * 1024;

/** How to run a program. */
export interface RunOptions {
  /** Default: this process's. */
  readonly folder?: string;
  /** Ends a hanging program before its test ends, so that its output is visible. Default 2 min. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end, whatever its exit code. */
export function runProgram(
  program: string,
  argv: readonly string[],
  input: string | Uint8Array = "",
  environment: Readonly<Record<string, string>> = {},
  { folder, timeoutMs = 120_000 }: RunOptions = {},
): Promise<ProgramRun> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      argv,
      {
        cwd: folder,
        encoding: "buffer",
        env: { ...programEnvironment, ...environment },
        maxBuffer: OUTPUT_MAX_BYTES,
        timeout: timeoutMs,
      },
      (error, out, err) => {
        const code = error === null ? 0 : error.code;
        if (typeof code === "number") resolve({ code, out, err: err.toString() });
        else reject(new Error(`${program} did not run to its end: ${err.toString()}`, { cause: error }));
      },
    );
    // Writing to a program that does not read its input, or has ended, breaks the pipe.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
