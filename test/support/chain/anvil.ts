import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Abi, Hex } from "viem";
import { programEnvironment } from "../environment.ts";
import { ROOT } from "../repository/source-files.ts";

/** An Ethereum node in its own process, with funded accounts. */
export interface Anvil {
  readonly url: string;
  stop(): Promise<void>;
}

/** The private key of the first account that every anvil funds. */
export const ANVIL_KEY: Hex = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

/** Starts an anvil on a free port and waits until it listens. It has the rules of Ethereum's Prague fork. */
export async function startAnvil(): Promise<Anvil> {
  const program = path.join(ROOT, "node_modules/.bin/anvil");
  const child = spawn(program, ["--port", "0", "--hardfork", "prague"], {
    env: programEnvironment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, address] = /^Listening on (\S+)$/.exec(line) ?? [];
      if (address !== undefined) resolve(`http://${address}`);
    });
    void exited.then(([code]) => reject(new Error(`anvil ended with ${code}`)));
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
 * Uniswap's ERC-20 token with permits (EIP-2612), compiled. Its constructor takes the supply, which the deployer gets.
 */
export function permitToken(): { readonly abi: Abi; readonly bytecode: Hex } {
  const file = path.join(ROOT, "node_modules/@uniswap/v2-core/build/ERC20.json");
  const { abi, bytecode } = JSON.parse(readFileSync(file, "utf8")) as { abi: Abi; bytecode: string };
  return { abi, bytecode: `0x${bytecode.replace(/^0x/, "")}` };
}
