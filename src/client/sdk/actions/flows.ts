import { openChain } from "../chain/open-chain.ts";
import { createMadeHalves } from "./made-halves.ts";
import { completeOnboard, getOrMake, makeDWallet } from "./onboard-within.ts";
import { readKeyWithin, recoverWithin } from "./recovery/recover-within.ts";
import { encodeResumeToken } from "./resume-token.ts";
import { resumeWithin } from "./resume-within.ts";
import { resumeSignWithin, signWithin } from "./sign-within.ts";

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
