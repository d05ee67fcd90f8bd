import { createMemoryBuckets } from "../../src/coordination/local-coordination.ts";
import { systemClock } from "../../src/lifecycle/clock.ts";
import { createCheckHalf, verifierOf } from "../../src/signing/verifier.ts";
import { verifyWork } from "../../src/signing/verify-work.ts";

/** Verifies in place, without threads. */
export const inlineVerifier = verifierOf(
  async (job) => verifyWork(job),
  async () => {},
);

/** Checks halves in place, with a limit on wrong ones that no test reaches. */
export const checkHalfInline = createCheckHalf({
  clock: systemClock,
  verifier: inlineVerifier,
  wrongHalves: createMemoryBuckets({ burstCount: 1_000_000, perSecond: 1_000_000 }, () => performance.now()),
});
