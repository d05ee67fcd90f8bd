import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { programEnvironment } from "../../test/support/environment.ts";
import { ROOT } from "../../test/support/repository/source-files.ts";

/** The command that `npm run build` makes. */
export const TSS = path.join(ROOT, "dist/src/cli/main.js");

export interface BenchService {
  readonly url: string;
  readonly pid: number;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** Node arguments that write a processor profile into the folder; none without a folder. */
export function profileArguments(folder: string | undefined): string[] {
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${path.resolve(folder)}`];
}

/** Starts the compiled service with these Node arguments, and resolves when it is ready. */
export async function startBenchService(
  environment: Record<string, string>,
  nodeArguments: readonly string[] = [],
): Promise<BenchService> {
  const child = fork(TSS, ["serve"], {
    execArgv: [...nodeArguments],
    env: { ...programEnvironment, ...environment },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const ended = exited.then(([code]) => Promise.reject(new Error(`the service ended with ${code}`)));
  ended.catch(() => {});
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const [, found] = /^ready at (\S+)$/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const url = await Promise.race([ready, ended]);
  return {
    url,
    pid: child.pid!,
    child,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
