import { type ChildProcessByStdio, spawn } from "node:child_process";
import path from "node:path";
import type { Readable } from "node:stream";

/**
 * Starts vitest of a copy of the repository. It heads a process group of its own, because a worker that loops for ever
 * outlives its parent: `kill` ends all of them, and so does the end of this process.
 */
export function startVitest(copy: string, args: readonly string[]): StartedVitest {
  const vitest = path.join(copy, "node_modules/vitest/vitest.mjs");
  const child = spawn(process.execPath, [vitest, "run", ...args], {
    cwd: copy,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.add(child.pid!);
  child.once("close", () => running.delete(child.pid!));
  return { child, kill: () => killGroup(child.pid!) };
}

/** A run of vitest. */
export interface StartedVitest {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Kills it and its workers. */
  kill(): void;
}

/** The process groups that this process must not leave behind. */
const running = new Set<number>();
process.once("exit", () => running.forEach(killGroup));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // It has ended by itself.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
