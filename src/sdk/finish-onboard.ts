import type { UserKeys } from "../crypto/engine.ts";
import { signDWalletOutput } from "../crypto/user-keys.ts";
import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { type ChainDWallet, parseDWallet } from "../protocol/chain-objects.ts";
import { pollObject } from "../protocol/poll-object.ts";
import { userShareFitsOutput } from "../protocol/user-share.ts";
import type { Action } from "./action.ts";
import { call } from "./call.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import type { OnboardStage } from "./onboard-types.ts";

/** A dWallet whose output the network has published. */
export type CompletedDWallet = ChainDWallet & {
  readonly state: {
    readonly kind: "AwaitingKeyHolderSignature" | "Active";
    readonly publicOutput: Uint8Array;
  };
};

/** Waits for the network's word on a DKG. A rejection ends the wait at once. */
export async function awaitDkg(
  context: ClientContext,
  action: Action<OnboardStage>,
  dwalletId: string,
  curve: CurveName,
): Promise<CompletedDWallet> {
  const dwallet = await pollObject(
    await context.chainReader(action),
    dwalletId,
    parseDWallet,
    ["AwaitingKeyHolderSignature", "Active"],
    { timeoutMs: action.remainingMs(), signal: action.signal },
  );
  if (dwallet.curveNumber !== curveNumber(curve)) {
    throw new TssError("OUTPUT_MISMATCH", "the dWallet on the chain is on another curve");
  }
  return dwallet;
}

/**
 * Accepts the encrypted share with the user's signature over the network's output, and waits until the dWallet is
 * Active. The caller has made sure that the output is the one its share implies. Returns the digest of the acceptance,
 * or null if it was accepted by a transaction that is not the service's.
 */
export async function acceptShare(
  context: ClientContext,
  action: Action<OnboardStage>,
  keys: UserKeys,
  dwallet: CompletedDWallet,
  userSecretKeyShare: Uint8Array,
  encryptedUserSecretKeyShareId: string,
): Promise<string | null> {
  const { id: dwalletId } = dwallet;
  const { publicOutput } = dwallet.state;
  if (!userShareFitsOutput(keys.curve, userSecretKeyShare, publicOutput)) {
    throw new TssError("SHARE_MISMATCH", "the network's output does not hold the user's share");
  }
  action.stage("accept");
  const userOutputSignature = signDWalletOutput(keys, publicOutput);
  const request = { dwalletId, encryptedUserSecretKeyShareId, userOutputSignature };
  const accepted = await call(action, (options) => context.raw.onboarding.acceptDWallet(request, options));
  action.stage("activate");
  const active = await pollObject(await context.chainReader(action), dwalletId, parseDWallet, ["Active"], {
    timeoutMs: action.remainingMs(),
    signal: action.signal,
  });
  context.activeDWallets.set(dwalletId, active);
  if (accepted.acceptTxDigest !== undefined) return accepted.acceptTxDigest;
  const read = await call(action, (options) => context.raw.onboarding.getDWallet({ dwalletId }, options));
  return read.acceptTxDigest ?? null;
}
