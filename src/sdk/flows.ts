import { completeOnboard } from "./complete-onboard.ts";
import { resumeSignWithin } from "./follow-submitted.ts";
import { getOrMake } from "./get-or-make.ts";
import { createMadeHalves } from "./made-halves.ts";
import { makeDWallet } from "./make-dwallet.ts";
import { openChain } from "./open-chain.ts";
import { readKeyWithin } from "./read-key-within.ts";
import { recoverWithin } from "./recover-within.ts";
import { encodeResumeToken } from "./resume-token.ts";
import { resumeWithin } from "./resume-within.ts";
import { signWithin } from "./sign-within.ts";

/** The code that `loadFlows` loads: the asynchronous part of the actions. */
export const FLOWS = {
  completeOnboard,
  createMadeHalves,
  encodeResumeToken,
  getOrMake,
  makeDWallet,
  openChain,
  readKeyWithin,
  recoverWithin,
  resumeSignWithin,
  resumeWithin,
  signWithin,
} as const;

export type Flows = typeof FLOWS;
