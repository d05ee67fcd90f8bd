import { openChain } from "../chain/open-chain.ts";
import { getOrMake } from "./get-or-make.ts";
import { importWithin } from "./imports/import-within.ts";
import { signLaterWithin } from "./later/sign-later-within.ts";
import { completeOnboard, makeDWallet } from "./onboard-within.ts";
import { readKeyWithin, recoverWithin } from "./recovery/recover-within.ts";
import { encodeResumeToken } from "./resume-token.ts";
import { resumeWithin } from "./resume-within.ts";
import { createMadeHalves } from "./signing/made-halves.ts";
import { resumeSignWithin, signWithin } from "./signing/sign-within.ts";

/** The code that `loadFlows` loads: the asynchronous part of the actions. */
export const FLOWS = {
  completeOnboard,
  createMadeHalves,
  encodeResumeToken,
  getOrMake,
  importWithin,
  makeDWallet,
  openChain,
  readKeyWithin,
  recoverWithin,
  resumeSignWithin,
  resumeWithin,
  signLaterWithin,
  signWithin,
} as const;

export type Flows = typeof FLOWS;
