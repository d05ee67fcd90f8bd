import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "../../service/platform/threads/start-thread.ts";
import type { MpcAnswer, MpcJob, MpcWorkerData } from "./engine.ts";
import { type NetworkParty, networkParty } from "./network-party.ts";

/** The worker's entry. It answers each message with one message. */
lowerPriority();
const { seed, cacheDirectory } = workerData as MpcWorkerData;
const party = networkParty(seed, cacheDirectory);
const port = parentPort;
if (port === null) throw new Error("this module runs as a worker thread");

port.on("message", (job: MpcJob) => port.postMessage(answer(party, job)));

function answer(party: NetworkParty, job: MpcJob): MpcAnswer {
  try {
    switch (job.method) {
      case "networkDkgPublicOutput":
        return { kind: "completed", output: party.networkDkgPublicOutput() };
      case "dkg":
        return party.dkg(job.input);
      case "importKey":
        return party.importKey(job.input);
      case "presign":
        return party.presign(job.input);
      case "sign":
        return party.sign(job.input);
      case "checkUserSignature":
        return party.checkUserSignature(job.input);
      case "checkEncryptedShare":
        return party.checkEncryptedShare(job.input);
      case "checkPublicShare":
        return party.checkPublicShare(job.input);
    }
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  }
}
