import { parentPort, workerData } from "node:worker_threads";
import { startLocalnet } from "../src/localnet/localnet.ts";
import { createSimMpc } from "../test/sim/sim-mpc.ts";

/** A localnet on its own thread, with free stand-in cryptography. Posts its address, and closes on any message. */
const localnet = await startLocalnet({
  mpc: createSimMpc(),
  operatorCount: (workerData as { operatorCount: number }).operatorCount,
});
const { url, ikaConfig, treasury } = localnet;
parentPort?.once("message", () => void localnet.close().finally(() => process.exit()));
parentPort?.postMessage({ url, ikaConfig, treasury });
