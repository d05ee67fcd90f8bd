import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { compiledProgram, programEnvironment } from "../../support/environment.ts";
import { ROOT } from "../../support/repository/source-files.ts";
import { type ProgramRun, runProgram } from "../run-program.ts";

/** An operator's shell. `tss` is the built package's command, and the folder resembles a checkout. */
export interface OperatorShell {
  /** Runs a command to its end in the folder with this name. Its `tss` runs in one process for the whole shell. */
  run(folder: string, command: string, environment: Environment): Promise<ProgramRun>;
  /**
   * Starts a command that runs until it is stopped, stops it with SIGTERM once it is ready, and returns its exit code
   * or signal.
   */
  runUntilReady(folder: string, command: string, environment: Environment): Promise<number | NodeJS.Signals>;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

/** The line that a service and a localnet print once they serve. */
const READY = /^(?:ready at|fullnode and faucet) /;
/** Processes start slowly while many tests run. */
const TIMEOUT_MS = 120_000;
/** Entries of a checkout that are not copied. */
const LEFT_OUT = [".git", ".data", "dist"];

/** Opens a shell. The setup of the run has compiled the program. */
export async function openOperatorShell(): Promise<OperatorShell> {
  const [program, built] = [compiledProgram.read(), compiledProgram.folder()];
  if (program === undefined || built === undefined) throw new Error("the program was not compiled");
  const top = mkdtempSync(path.join(tmpdir(), "tss-operator-"));
  const socket = path.join(top, "tss.socket");
  const resident = fork(path.join(import.meta.dirname, "resident-tss.mjs"), [built, socket], {
    env: programEnvironment,
    // Vitest's own options are not for this process.
    execArgv: [],
  });
  await once(resident, "message");
  const own = pathWith("own", `exec "${process.execPath}" "${program}" "$@"`);
  const shared = pathWith("shared", residentScript(socket));

  /** The PATH with this `tss`. */
  function pathWith(name: string, script: string): string {
    const bin = path.join(top, "bin", name);
    mkdirSync(bin, { recursive: true });
    writeFileSync(path.join(bin, "tss"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return `${bin}:${programEnvironment.PATH}`;
  }

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
        { ...environment, PATH: shared },
        { folder: folderOf(folder), timeoutMs: TIMEOUT_MS },
      ),
    async runUntilReady(folder, command, environment) {
      // `exec` replaces the shell with the program, so that the signal reaches the program.
      const line = command.replace(/^((?:\w+=\S+ )*)/, "$1exec ");
      const child = spawn("sh", ["-c", line], {
        cwd: folderOf(folder),
        env: { ...programEnvironment, ...environment, PATH: own },
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
    async close() {
      resident.disconnect();
      await once(resident, "exit");
      rmSync(top, { recursive: true });
    },
  };
}

/** Has the resident process run the command, and ends as the command ends. */
function residentScript(socket: string): string {
  return `
call=$(mktemp -d "${path.dirname(socket)}/call-XXXXXX")
printf '%s\\0' "$PWD" > "$call/cwd"
: > "$call/argv"
[ $# = 0 ] || printf '%s\\0' "$@" > "$call/argv"
env -0 > "$call/env"
curl --silent --show-error --unix-socket "${socket}" --data-binary "$call" http://tss/ || exit 70
cat "$call/err" >&2
cat "$call/out"
exit "$(cat "$call/code")"`;
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
