import type { BucketSize, TokenBuckets } from "../../platform/coordination/coordination.ts";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { startThread } from "../../platform/threads/start-thread.ts";
import { createWorkerPool, PoolFullError } from "../../platform/threads/worker-pool.ts";
import type { NetworkSignatureClaim, SignMessageClaim, VerifyJob, VerifyResult } from "./verify-work.ts";

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

/**
 * Creates a check that allows each project a budget of wrong halves, and each of its users a part of it. It bounds their
 * cost however much credit the project has, and a user who sends wrong halves stops nobody else.
 */
export function createCheckHalf(options: CheckHalfOptions): CheckHalf {
  const { verifier, wrongHalves, wrongHalvesOfUser, clock } = options;
  const pausedUntilMs = new RecentMap<string, number>(PAUSED_MAX_COUNT);

  async function take(buckets: TokenBuckets, subject: string): Promise<boolean> {
    const { isAllowed, waitMs } = await buckets.take(subject);
    if (!isAllowed) pausedUntilMs.set(subject, clock.now() + waitMs);
    return isAllowed;
  }

  return async ({ projectId, userReference }, claim) => {
    const user = userReference === null ? undefined : `${projectId} ${userReference}`;
    for (const subject of user === undefined ? [projectId] : [projectId, user]) {
      const leftMs = (pausedUntilMs.get(subject) ?? 0) - clock.now();
      if (leftMs > 0) throw tooManyWrong(leftMs);
    }
    const wrong = await verifier.checkHalf(projectId, claim).catch((cause: unknown) => {
      if (!(cause instanceof PoolFullError)) throw cause;
      throw new ServiceError("VERIFICATION_BUSY", "too many halves are waiting for verification", { cause });
    });
    if (wrong === undefined) return;
    // What a user sends beyond the user's part takes nothing from the project.
    if (user === undefined || (await take(wrongHalvesOfUser, user))) await take(wrongHalves, projectId);
    throw new ServiceError("MALFORMED_SIGN_MESSAGE", wrong);
  };
}

/**
 * Checks a user's half before the project pays for it. Throws MALFORMED_SIGN_MESSAGE if the half is wrong,
 * TOO_MANY_WRONG_HALVES, without checking it, if the project or the dWallet's user has sent too many wrong ones, and
 * VERIFICATION_BUSY if too many halves wait.
 */
export type CheckHalf = (owner: HalfOwner, claim: SignMessageClaim) => Promise<void>;

/** Whose dWallet a half is for. */
export interface HalfOwner {
  readonly projectId: string;
  /** Null for a dWallet without a user. */
  readonly userReference: string | null;
}

interface CheckHalfOptions {
  readonly verifier: Pick<Verifier, "checkHalf">;
  /** Counts the wrong halves of each project. */
  readonly wrongHalves: TokenBuckets;
  /** Counts those of each user. */
  readonly wrongHalvesOfUser: TokenBuckets;
  readonly clock: Pick<Clock, "now">;
}

/** Returns the sizes of the buckets of a project that may send this many wrong halves a minute, and of each of its users. */
export function wrongHalvesSizes(perMinute: number): {
  readonly ofProject: BucketSize;
  readonly ofUser: BucketSize;
} {
  const ofUser = Math.max(1, Math.floor(perMinute / 10));
  return {
    ofProject: { burstCount: perMinute, perSecond: perMinute / 60 },
    ofUser: { burstCount: ofUser, perSecond: ofUser / 60 },
  };
}

const PAUSED_MAX_COUNT = 10_000;

function tooManyWrong(leftMs: number): ServiceError {
  return new ServiceError("TOO_MANY_WRONG_HALVES", "the project or the user has sent too many wrong halves", {
    retryAfterSeconds: leftMs / 1_000,
  });
}
