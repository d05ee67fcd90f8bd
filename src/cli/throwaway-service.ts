import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { poll } from "../protocol/poll.ts";
import { type DevelopmentAccess, readDevelopmentFile } from "./development-file.ts";

/**
 * Starts `tss serve` on free ports in a new temporary folder and waits until it is ready. The process gets no
 * environment but what is given here. Rejects with the end of its output when it ends before it is ready; an abort
 * stops it. The folder is removed in every case.
 */
export async function startThrowawayService(
  environment: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<ThrowawayService> {
  const folder = await mkdtemp(join(tmpdir(), "tss-"));
  const log = join(folder, "service.log");
  const child = spawnServe(
    { DATA_DIR: folder, PORT: "0", LOCALNET_PORT: "0", METRICS_PUBLIC: "true", ...environment },
    log,
  );
  // The last resort when this process ends without having stopped the service.
  const onExit = (): void => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", onExit);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= end(child)
      .then(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
      .then(() => void process.off("exit", onExit));
    return stopping;
  };
  try {
    const access = await poll(
      async () => {
        if (hasEnded(child)) {
          throw new Error(`the service exited before it was ready:\n${await readTail(log)}`);
        }
        return await readDevelopmentFile(folder);
      },
      { timeoutMs: START_TIMEOUT_MS, maxIntervalMs: 50, signal },
    );
    return { access, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A service in a process and a folder of its own. */
export interface ThrowawayService {
  readonly access: DevelopmentAccess;
  /** Stops the process and removes the folder. A second call waits for the first. */
  stop(): Promise<void>;
}

/** How long a service may take to start: its localnet builds its key and tables first. */
const START_TIMEOUT_MS = 300_000;
/** How long it may take to stop before it is killed. */
const STOP_TIMEOUT_MS = 15_000;
/** How much of its output an error shows. */
const OUTPUT_TAIL_CHARACTERS = 4000;

/**
 * From the sources through tsx, from the published package as it is. Its output goes to a file: a pipe that nobody
 * reads while this thread computes would stop the service once it is full.
 */
function spawnServe(env: Record<string, string>, logPath: string): ChildProcess {
  const isSource = import.meta.url.endsWith(".ts");
  const entry = fileURLToPath(new URL(isSource ? "./main.ts" : "./main.js", import.meta.url));
  const loader = isSource ? ["--import", import.meta.resolve("tsx")] : [];
  // V8 compiles wasm with four threads whatever the machine has; on two cores the event loop would wait for them.
  const poolSize = Math.max(1, availableParallelism() - 1);
  const log = openSync(logPath, "a");
  const child = spawn(process.execPath, [`--v8-pool-size=${poolSize}`, ...loader, entry, "serve"], {
    env,
    stdio: ["ignore", log, log],
    // A group of its own: Ctrl-C reaches this process alone, which then stops the service in order.
    detached: true,
  });
  closeSync(log);
  // That it could not be started shows in its missing id.
  child.on("error", () => {});
  return child;
}

async function readTail(path: string): Promise<string> {
  const output = await readFile(path, "utf8").catch(() => "");
  return output.slice(-OUTPUT_TAIL_CHARACTERS);
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await exited;
  clearTimeout(timer);
}

/** A process that could not be started has no id. */
function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
