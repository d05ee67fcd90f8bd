import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { compiledProgram, programEnvironment } from "../support/environment.ts";
import { ROOT } from "../support/repository/source-files.ts";
import { type ProgramRun, runProgram } from "./run-program.ts";

/** An operator's shell. `tss` is the built package's command, and the folder resembles a checkout. */
export interface OperatorShell {
  /** Runs a command to its end in the folder with this name. */
  run(folder: string, command: string, environment: Environment): Promise<ProgramRun>;
  /**
   * Starts a command that runs until it is stopped, stops it with SIGTERM once it is ready, and returns its exit code
   * or signal.
   */
  runUntilReady(folder: string, command: string, environment: Environment): Promise<number | NodeJS.Signals>;
  close(): void;
}

type Environment = Readonly<Record<string, string>>;

/** The line that a service and a localnet print once they serve. */
const READY = /^(?:ready at|fullnode and faucet) /;
/** Processes start slowly while many tests run. */
const TIMEOUT_MS = 120_000;
/** Entries of a checkout that are not copied. */
const LEFT_OUT = [".git", ".data", "dist"];

/** Opens a shell. The setup of the run has compiled the program. */
export function openOperatorShell(): OperatorShell {
  const program = compiledProgram.read();
  if (program === undefined) throw new Error("the program was not compiled");
  const top = mkdtempSync(path.join(tmpdir(), "tss-operator-"));
  const bin = path.join(top, "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`;
  writeFileSync(path.join(bin, "tss"), script, { mode: 0o755 });
  const PATH = `${bin}:${programEnvironment.PATH}`;

  /** Creates a folder that resembles a checkout and keeps the files that commands write. */
  function folderOf(name: string): string {
    const folder = path.join(top, name.replaceAll(/\W+/g, "-"));
    if (mkdirSync(folder, { recursive: true }) === undefined) return folder;
    for (const entry of readdirSync(ROOT).filter((each) => !LEFT_OUT.includes(each)))
      symlinkSync(path.join(ROOT, entry), path.join(folder, entry));
    return folder;
  }

  return {
    run: (folder, command, environment) =>
      runProgram(
        "sh",
        ["-c", command],
        "",
        { ...environment, PATH },
        { folder: folderOf(folder), timeoutMs: TIMEOUT_MS },
      ),
    async runUntilReady(folder, command, environment) {
      // `exec` replaces the shell with the program, so that the signal reaches the program.
      const line = command.replace(/^((?:\w+=\S+ )*)/, "$1exec ");
      const child = spawn("sh", ["-c", line], {
        cwd: folderOf(folder),
        env: { ...programEnvironment, ...environment, PATH },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: TIMEOUT_MS,
        // Its own process group, so that the test can also end the processes that npm starts.
        detached: true,
      });
      const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals]>;
      let said = "";
      child.stderr?.on("data", (data: Buffer) => {
        said += data.toString();
      });
      const isReady = await Promise.race([ready(child), exited.then(() => false)]);
      if (!isReady) throw new Error(`it ended before it was ready: ${said}`);
      child.kill("SIGTERM");
      const [code, signal] = await exited;
      endGroup(child.pid);
      return code ?? signal;
    },
    close: () => rmSync(top, { recursive: true }),
  };
}

/** Never resolves if the command prints no such line. */
function ready(child: ChildProcess): Promise<true> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      if (READY.test(line)) resolve(true);
    });
  });
}

/** Ends the processes that a finished command left running. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
