import type { Worker } from "node:worker_threads";
import { startThread } from "../../service/platform/threads/start-thread.ts";
import type { MpcAnswer, MpcJob, MpcOutcome, MpcWorkerData, NetworkMpc } from "./engine.ts";
import { reconfigurationOutput } from "./reconfiguration-output.ts";

/**
 * Starts the network's half of the protocol on a worker thread. Resolves when the thread runs.
 * One job runs at a time. Presigns have the lowest priority, because refilling a pool must not delay a signature.
 * Rejects with a RangeError unless the seed has 32 bytes, and with NetworkMpcError if the thread cannot start.
 * `start` creates the thread. Default: a thread with the module `network-mpc-worker`.
 */
export async function createNetworkMpc(
  options: NetworkMpcOptions,
  start: (workerData: MpcWorkerData) => Worker = startWorker,
): Promise<NetworkMpc> {
  if (options.seed.length !== 32) throw new RangeError("seed must be 32 bytes");
  const workerData: MpcWorkerData = { seed: options.seed, cacheDirectory: options.cacheDirectory };
  const worker = start(workerData);
  const urgent: PendingJob[] = [];
  const patient: PendingJob[] = [];
  let running: PendingJob | undefined;
  let failure: NetworkMpcError | undefined;

  const next = (): void => {
    running ??= urgent.shift() ?? patient.shift();
    if (running === undefined) return;
    try {
      worker.postMessage(running.job);
    } catch (error) {
      // The job cannot be copied to another thread. It must not block the jobs behind it.
      running.reject(
        new NetworkMpcError("the call's input cannot be sent to the MPC worker", { cause: error }),
      );
      running = undefined;
      next();
    }
  };
  const fail = (error: NetworkMpcError): void => {
    failure ??= error;
    const open = [...(running === undefined ? [] : [running]), ...urgent.splice(0), ...patient.splice(0)];
    running = undefined;
    for (const pending of open) pending.reject(failure);
  };
  const run = (job: MpcJob): Promise<MpcAnswer> =>
    new Promise((resolve, reject) => {
      if (failure !== undefined) return reject(failure);
      (job.method === "presign" ? patient : urgent).push({ job, resolve, reject });
      if (running === undefined) next();
    });
  worker.on("message", (answer: MpcAnswer) => {
    const finished = running;
    running = undefined;
    finished?.resolve(answer);
    next();
  });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  worker.on("error", (error) => fail(new NetworkMpcError("the MPC worker failed", { cause: error })));
  worker.on("exit", (code) => fail(new NetworkMpcError(`the MPC worker ended with code ${code}`)));
  await Promise.race([new Promise((resolve) => worker.once("online", resolve)), exited]);
  if (failure !== undefined) throw failure;

  const outcome = async (job: MpcJob): Promise<MpcOutcome> => {
    const answer = await run(job);
    if (answer.kind === "completed" || answer.kind === "rejected") return answer;
    throw new NetworkMpcError(`the MPC worker could not ${job.method}: ${answer.message}`);
  };
  const networkDkgPublicOutput = async (): Promise<Uint8Array> => {
    const answer = await outcome({ method: "networkDkgPublicOutput" });
    if (answer.kind === "rejected") throw new NetworkMpcError(answer.reason);
    return answer.output;
  };
  return {
    networkDkgPublicOutput,
    networkReconfigurationPublicOutput: async (epoch) =>
      reconfigurationOutput(await networkDkgPublicOutput(), epoch),
    dkg: (input) => outcome({ method: "dkg", input }),
    importKey: (input) => outcome({ method: "importKey", input }),
    presign: (input) => outcome({ method: "presign", input }),
    sign: (input) => outcome({ method: "sign", input }),
    checkUserSignature: (input) => outcome({ method: "checkUserSignature", input }),
    checkEncryptedShare: (input) => outcome({ method: "checkEncryptedShare", input }),
    checkPublicShare: (input) => outcome({ method: "checkPublicShare", input }),
    close: async () => {
      fail(new NetworkMpcError("the network's MPC was closed"));
      await worker.terminate();
    },
  };
}

/** Thrown by calls that the worker cannot answer because it failed or is closed. Says nothing about the input. */
export class NetworkMpcError extends Error {
  override readonly name = "NetworkMpcError";
}

export interface NetworkMpcOptions {
  /** 32 bytes. The same seed gives the same network. */
  readonly seed: Uint8Array;
  /** The folder for exponentiation tables (public values, about 260 KB each). Without it, each start builds them. */
  readonly cacheDirectory?: string;
}

interface PendingJob {
  readonly job: MpcJob;
  readonly resolve: (answer: MpcAnswer) => void;
  readonly reject: (error: NetworkMpcError) => void;
}

const startWorker = (workerData: MpcWorkerData): Worker =>
  startThread(import.meta.url, "./network-mpc-worker", workerData);
