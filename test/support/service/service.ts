import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { DevelopmentAccess } from "../../../src/cli/connections/development-file.ts";
import { compiledProgram, programEnvironment } from "../environment.ts";
import { ROOT } from "../repository/source-files.ts";

/** A service in its own process, on free ports, in a folder that survives a crash of the process. */
export interface ServiceProcess {
  /** The keys and the fullnode are empty unless the service runs on embedded defaults. */
  readonly access: DevelopmentAccess;
  readonly folder: string;
  /** The lines of its log, without its output for people. */
  readonly log: readonly string[];
  /** Resolves with the first line of its log that contains a text, once there is one. */
  logged(text: string): Promise<string>;
  /** SIGKILL, then waits until the process is gone. */
  crash(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Makes a folder for {@link startService} that `remove` deletes. */
export function serviceFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-test-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Starts `tss serve` and waits until it is ready. Rejects with its log if it ends before that. It builds no protocol
 * parameters unless the environment says so, because this project's client builds its own.
 */
export async function startService(
  folder: string,
  environment: Record<string, string> = {},
  argv: readonly string[] = [],
): Promise<ServiceProcess> {
  const child = runTss(["serve", ...argv], {
    DATA_DIR: folder,
    PORT: "0",
    LOCALNET_PORT: "0",
    LOG_LEVEL: "debug",
    PROTOCOL_PARAMETERS: "off",
    ...environment,
  });
  const log: string[] = [];
  const logLines = createInterface({ input: child.stderr! }).on("line", (line) => log.push(line));
  const lines = createInterface({ input: child.stdout! });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const baseUrl = await new Promise<string>((resolve, reject) => {
    lines.on("line", (line) => {
      const [, url] = /^ready at (\S+)$/.exec(line) ?? [];
      if (url) resolve(url);
    });
    void exited.then(([code]) =>
      reject(new Error(`the service ended with ${code}:\n${log.slice(-30).join("\n")}`)),
    );
  });
  return {
    access: { ...readDevelopmentAccess(folder), baseUrl },
    folder,
    log,
    logged: (text) =>
      new Promise((resolve) => {
        const find = (line: string) => line.includes(text) && resolve(line);
        logLines.on("line", find);
        log.forEach(find);
      }),
    async crash() {
      child.kill("SIGKILL");
      await exited;
    },
    async stop() {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
  };
}

const NO_ACCESS: DevelopmentAccess = {
  baseUrl: "",
  apiKey: "",
  adminApiKey: "",
  network: "localnet",
  fullnodeUrl: "",
};

/** On embedded defaults the service leaves its keys in its folder. Otherwise there are none. */
function readDevelopmentAccess(folder: string): DevelopmentAccess {
  const file = path.join(folder, "dev.json");
  if (!existsSync(file)) return NO_ACCESS;
  return JSON.parse(readFileSync(file, "utf8")) as DevelopmentAccess;
}

/** A localnet in its own process. */
export interface LocalnetProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts `tss localnet` on a free port and waits until it listens. */
export async function startLocalnetProcess(folder: string): Promise<LocalnetProcess> {
  const child = runTss(["localnet", "--port", "0", "--data-dir", path.join(folder, "localnet")], {});
  child.stderr?.resume();
  const exited = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const [, found] = /^fullnode and faucet\s+(\S+)$/.exec(line) ?? [];
      if (found) resolve(found);
    });
    void exited.then(([code]) => reject(new Error(`the localnet ended with ${code}`)));
  });
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/**
 * Runs one `tss` command with the compiled program of this run, or else from the sources. It takes 2 connections to
 * PostgreSQL unless its environment says otherwise.
 */
export function runTss(argv: readonly string[], environment: Record<string, string>): ChildProcess {
  return spawn(process.execPath, tssArguments(argv), {
    cwd: ROOT,
    env: {
      ...programEnvironment,
      ...("DATABASE_URL" in environment && { DATABASE_POOL_SIZE: "2" }),
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** What Node runs for one `tss` command. */
export function tssArguments(argv: readonly string[]): string[] {
  const compiled = compiledProgram.read();
  const program =
    compiled === undefined ? ["--import", "tsx", path.join(ROOT, "src/cli/main.ts")] : [compiled];
  return [...FLAGS, ...program, ...argv];
}

/** A test ends before it earns back what V8's optimizing compiler spends on the WebAssembly of a new process. */
const FLAGS = ["--liftoff-only"];
