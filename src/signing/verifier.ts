import { startThread } from "../threads/start-thread.ts";
import { createWorkerPool } from "../threads/worker-pool.ts";
import type { SignMessageClaim } from "./check-sign-message.ts";
import type { NetworkSignatureClaim, VerifyJob, VerifyResult } from "./verify-work.ts";

/** Verifies halves and signatures off the event loop. */
export interface Verifier {
  /**
   * What is wrong with a user's half; undefined when nothing is. Rejects with PoolFullError when too many halves of
   * the project, or of all projects, wait.
   */
  checkHalf(projectId: string, claim: SignMessageClaim): Promise<string | undefined>;
  /** The signature in the contract's form; undefined when it does not verify. Goes before all halves. */
  checkSignature(claim: NetworkSignatureClaim): Promise<Uint8Array | undefined>;
  /** Ends its threads. */
  close(): Promise<void>;
}

/** Halves that wait, of all projects: some seconds of work, and 30 MB where all have the longest message. */
const WAITING_MAX_COUNT = 1_024;
/** Of one project: others wait at most for one of these at a time. */
const PROJECT_WAITING_MAX_COUNT = 64;
/** Of JavaScript's heap. With its code a thread takes about 30 MB of the process. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

/** A verifier on a bounded number of threads. A thread starts when it is first needed. */
export function createVerifier({ threadMaxCount }: { readonly threadMaxCount: number }): Verifier {
  const pool = createWorkerPool<VerifyJob, VerifyResult>({
    start: () => startThread(import.meta.url, "./verify-worker", undefined, THREAD_MEMORY),
    workerMaxCount: threadMaxCount,
    maxCount: WAITING_MAX_COUNT,
    subjectMaxCount: PROJECT_WAITING_MAX_COUNT,
  });
  return verifierOf(
    (job, subject) => pool.run(withOwnBytes(job), subject),
    () => pool.close(),
  );
}

/** A verifier that has its work done by a function. */
export function verifierOf(
  run: (job: VerifyJob, subject?: string) => Promise<VerifyResult>,
  close: () => Promise<void>,
): Verifier {
  return {
    async checkHalf(projectId, claim) {
      const result = await run({ kind: "half", claim }, projectId);
      return "wrong" in result ? result.wrong : undefined;
    },
    async checkSignature(claim) {
      const result = await run({ kind: "signature", claim });
      return "signature" in result ? result.signature : undefined;
    },
    close,
  };
}

/** The job with bytes that share no memory: a copy for a thread takes all that its bytes' memory has. */
function withOwnBytes(job: VerifyJob): VerifyJob {
  const claim = Object.fromEntries(
    Object.entries(job.claim).map(([name, value]) => [
      name,
      value instanceof Uint8Array && value.byteLength < value.buffer.byteLength
        ? new Uint8Array(value)
        : value,
    ]),
  );
  return { ...job, claim } as VerifyJob;
}
