import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { IkaConfig } from "@ika.xyz/sdk";

/** A localnet that runs in a child process. */
export interface LocalnetChild {
  readonly child: ChildProcess;
  readonly url: string;
  readonly ikaConfig: IkaConfig;
  readonly ikaCoinType: string;
}

/** Starts a localnet as its own process and waits until it answers. */
export async function startLocalnetChild(
  dataDirectory: string,
  mpc: "cheap" | "real",
): Promise<LocalnetChild> {
  const program = fileURLToPath(new URL("./localnet-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program, dataDirectory, mpc], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`the localnet process ended with code ${code}`);
  });
  const [line] = (await Promise.race([once(lines, "line"), exited])) as [string];
  exited.catch(() => undefined);
  return { child, ...(JSON.parse(line) as Omit<LocalnetChild, "child">) };
}
