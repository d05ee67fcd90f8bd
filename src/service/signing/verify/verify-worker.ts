import { parentPort } from "node:worker_threads";
import type { WorkerAnswer } from "../../platform/threads/worker-pool.ts";
import { type VerifyJob, type VerifyResult, verifyWork } from "./verify-work.ts";

/** A thread that verifies: answers each job with its result. */
parentPort?.on("message", (job: VerifyJob) => parentPort?.postMessage(answer(job)));

function answer(job: VerifyJob): WorkerAnswer<VerifyResult> {
  try {
    return { result: verifyWork(job) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
