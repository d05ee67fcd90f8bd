import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { parseDWalletOutput, userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { curveByNumber, scaleBase } from "../protocol/proofs/curve.ts";
import { rejectionReason } from "../protocol/proofs/rejected-input.ts";
import { encodeUserPublicOutput } from "../protocol/proofs/user-public-output.ts";
import { decodeUserShare } from "../protocol/user-share.ts";
import { EngineError } from "./engine.ts";
import { knownNetworkKey } from "./known-network-key.ts";

/**
 * Returns whether a dWallet's public output follows from the user's share and the network key. Computes the user's
 * public output again from the share and the network key in the parameters, with the randomisers of the dWallet's
 * output, and compares all of it. So the result covers both X_A and X_B: an attacker that could choose X_B could choose
 * X = X_A + X_B as its own key. Takes a few milliseconds. Throws EngineError for malformed bytes. Never reveals the
 * share.
 */
export function isOutputOfShare(
  curveName: CurveName,
  parameters: Uint8Array,
  userSecretKeyShare: Uint8Array,
  dwalletOutput: Uint8Array,
): boolean {
  const curve = curveByNumber(curveNumber(curveName));
  try {
    const { randomizers } = parseDWalletOutput(curveName, dwalletOutput);
    const publicShare = scaleBase(curve, decodeUserShare(curveName, userSecretKeyShare));
    const key = knownNetworkKey(curve, parameters);
    const own = encodeUserPublicOutput(curve, publicShare, randomizers, key);
    return equalBytes(own, userPublicOutputFromDWalletOutput(curveName, dwalletOutput));
  } catch (error) {
    const reason = rejectionReason(error);
    throw reason === undefined ? error : new EngineError(reason);
  }
}
