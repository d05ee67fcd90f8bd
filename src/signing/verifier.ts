import { startThread } from "../threads/start-thread.ts";
import { createWorkerPool } from "../threads/worker-pool.ts";
import type { SignMessageClaim } from "./check-sign-message.ts";
import type { NetworkSignatureClaim, VerifyJob, VerifyResult } from "./verify-work.ts";

/** Creates a verifier on a bounded number of threads. A thread starts on first use. */
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

/** Verifies halves and signatures off the event loop. */
export interface Verifier {
  /**
   * Returns the fault of a user's half, or undefined if it has none. Rejects with PoolFullError if too many halves of
   * the project, or of all projects, wait.
   */
  checkHalf(projectId: string, claim: SignMessageClaim): Promise<string | undefined>;
  /**
   * Returns the signature in the contract's form, or undefined if it does not verify. Takes precedence over all halves.
   */
  checkSignature(claim: NetworkSignatureClaim): Promise<Uint8Array | undefined>;
  /** Terminates its threads. */
  close(): Promise<void>;
}

/** The maximum number of waiting halves of all projects: some seconds of work, and 30 MB with the longest messages. */
const WAITING_MAX_COUNT = 1_024;
/** The maximum of one project. Other projects wait for at most one of these at a time. */
const PROJECT_WAITING_MAX_COUNT = 64;
/** The limit of JavaScript's heap. With its code a thread takes about 30 MB of the process. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

/** Returns a verifier that passes its work to a function. */
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

/** Copies bytes that are part of a larger buffer, because a thread would get a copy of the whole buffer. */
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
