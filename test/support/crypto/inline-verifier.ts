import { createMemoryBuckets } from "../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import { createCheckHalf, verifierOf } from "../../../src/service/signing/verify/verifier.ts";
import { verifyWork } from "../../../src/service/signing/verify/verify-work.ts";

/** Verifies in place, without threads. */
export const inlineVerifier = verifierOf(
  async (job) => verifyWork(job),
  async () => {},
);

const endless = () =>
  createMemoryBuckets({ burstCount: 1_000_000, perSecond: 1_000_000 }, () => performance.now());

/** Checks halves in place, with a limit on wrong ones that no test reaches. */
export const checkHalfInline = createCheckHalf({
  clock: systemClock,
  verifier: inlineVerifier,
  wrongHalves: endless(),
  wrongHalvesOfUser: endless(),
});
