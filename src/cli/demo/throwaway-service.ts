import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { poll } from "../../protocol/chain/poll.ts";
import { type DevelopmentAccess, readDevelopmentFile } from "../connections/development-file.ts";

/**
 * Starts `tss serve` on free ports in a new temporary folder and waits until it is ready. The process gets only the
 * given environment. Rejects with the end of its output if it exits before it is ready. An abort stops it. The folder
 * is always removed.
 */
export async function startThrowawayService(
  environment: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<ThrowawayService> {
  const folder = await mkdtemp(join(tmpdir(), "tss-"));
  const log = join(folder, "service.log");
  const child = spawnServe(
    {
      DATA_DIR: folder,
      PORT: "0",
      LOCALNET_PORT: "0",
      METRICS_PUBLIC: "true",
      // The demo's client builds its own, and needs the processor.
      PROTOCOL_PARAMETERS: "off",
      ...environment,
    },
    log,
  );
  // Kills the service if this process exits without stopping it.
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

export interface ThrowawayService {
  readonly access: DevelopmentAccess;
  /** Stops the process and removes the folder. A second call waits for the first. */
  stop(): Promise<void>;
}

/** The time limit of a start. The localnet first builds its key and tables. */
const START_TIMEOUT_MS = 300_000;
/** The time limit of a stop. Afterwards the process is killed. */
const STOP_TIMEOUT_MS = 15_000;
/** The number of output characters that an error quotes. */
const OUTPUT_TAIL_CHARACTERS = 4000;

/**
 * Runs the sources through tsx, or the published package directly. The output goes to a file, because a full pipe would
 * block the service while this thread computes.
 */
function spawnServe(env: Record<string, string>, logPath: string): ChildProcess {
  const isSource = import.meta.url.endsWith(".ts");
  const entry = fileURLToPath(new URL(isSource ? "../main.ts" : "../main.js", import.meta.url));
  const loader = isSource ? ["--import", import.meta.resolve("tsx")] : [];
  // V8 compiles wasm with four threads on any machine. With two cores the event loop would wait for them.
  const poolSize = Math.max(1, availableParallelism() - 1);
  const log = openSync(logPath, "a");
  const child = spawn(process.execPath, [`--v8-pool-size=${poolSize}`, ...loader, entry, "serve"], {
    env,
    stdio: ["ignore", log, log],
    // A separate process group, so that Ctrl-C reaches only this process, which then stops the service gracefully.
    detached: true,
  });
  closeSync(log);
  // A process without an id failed to start.
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

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}
