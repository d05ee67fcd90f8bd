import { parentPort, workerData } from "node:worker_threads";
import { startLocalnet } from "../src/localnet/localnet.ts";
import { createSimMpc } from "../test/sim/sim-mpc.ts";

/** A localnet on a thread of its own, whose cryptography costs nothing: says where it is, and closes at a word. */
const localnet = await startLocalnet({
  mpc: createSimMpc(),
  operatorCount: (workerData as { operatorCount: number }).operatorCount,
});
const { url, ikaConfig, treasury } = localnet;
parentPort?.once("message", () => void localnet.close().finally(() => process.exit()));
parentPort?.postMessage({ url, ikaConfig, treasury });
