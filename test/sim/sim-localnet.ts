import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Localnet } from "../../src/localnet/localnet.ts";
import { programEnvironment } from "../support/environment.ts";

/** A localnet with {@link createSimMpc} in its own process, which outlives replicas. */
export interface SimLocalnet extends Pick<Localnet, "url" | "hotWalletAddress" | "networkEncryptionKeyId"> {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts it on a free port and waits until it answers. Its signatures take a fifth of a second. */
export async function startSimLocalnet(): Promise<SimLocalnet> {
  const program = fileURLToPath(new URL("./sim-localnet-process.ts", import.meta.url));
  const child = fork(program, { execArgv: ["--import", "tsx"], env: programEnvironment });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const described = once(child, "message") as Promise<[Omit<SimLocalnet, "stop" | "pid">]>;
  const ended = exited.then(([code]) => Promise.reject(new Error(`the localnet ended with ${code}`)));
  const [description] = await Promise.race([described, ended]);
  ended.catch(() => {});
  return {
    ...description,
    pid: child.pid!,
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
