import type { UserKeys } from "../crypto/engine.ts";
import type { SecretBytes } from "../crypto/secret-bytes.ts";
import { type CurveName, curveNumber } from "../protocol/algorithms.ts";
import { pollObject } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import { checkCustody } from "./check-custody.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { DWALLET } from "./object-kinds.ts";
import type { OnboardStage } from "./onboard-types.ts";
import { type CompletedDWallet, parseDWalletOf, rememberActive } from "./read-dwallet.ts";

/** Waits for the network's DKG result. A rejection throws at once. */
export async function awaitDkg(
  context: ClientContext,
  action: Action<OnboardStage>,
  dwalletId: string,
  curve: CurveName,
): Promise<CompletedDWallet> {
  const dwallet = await pollObject(
    await context.chainReader(action, DWALLET),
    dwalletId,
    (content) => parseDWalletOf(dwalletId, content),
    ["AwaitingKeyHolderSignature", "Active"],
    { timeoutMs: action.remainingMs(), signal: action.signal },
  );
  if (dwallet.curveNumber !== curveNumber(curve)) {
    throw new TssError("OUTPUT_MISMATCH", "the dWallet on the chain is on another curve");
  }
  return dwallet;
}

export interface Acceptance {
  readonly keys: UserKeys;
  readonly dwallet: CompletedDWallet;
  readonly parameters: Uint8Array;
  /** The share that this process derived from the seed, never one that it only decrypted. */
  readonly userSecretKeyShare: SecretBytes;
  readonly encryptedUserSecretKeyShareId: string;
}

/**
 * Accepts the encrypted share with the user's signature over the network's output, and waits until the dWallet is
 * Active. It signs only an output that the user's share leads to, and only if the user can take the dWallet out of the
 * service. Returns the digest of the acceptance, or null when a transaction of another sender accepted it.
 */
export async function acceptShare(
  context: ClientContext,
  action: Action<OnboardStage>,
  { keys, dwallet, parameters, userSecretKeyShare, encryptedUserSecretKeyShareId }: Acceptance,
): Promise<string | null> {
  const { id: dwalletId } = dwallet;
  const { publicOutput } = dwallet.state;
  const { engine } = context;
  const { signal } = action;
  const claim = { curve: keys.curve, parameters, userSecretKeyShare, dwalletOutput: publicOutput, signal };
  if (!(await engine.isOutputOfShare(claim))) {
    throw new TssError("SHARE_MISMATCH", "the network's output does not contain the user's share");
  }
  await checkCustody(context, action, dwallet, keys.signerAddress);
  action.stage("accept");
  const { signerSecretKey } = keys;
  const userOutputSignature = await engine.signAsUser({ signerSecretKey, message: publicOutput, signal });
  const request = { dwalletId, encryptedUserSecretKeyShareId, userOutputSignature };
  const accepted = await context.call(action, (options) =>
    context.raw.onboarding.acceptDWallet(request, options),
  );
  action.stage("activate");
  const active = await pollObject(
    await context.chainReader(action, DWALLET),
    dwalletId,
    (content) => parseDWalletOf(dwalletId, content),
    ["Active"],
    {
      timeoutMs: action.remainingMs(),
      signal: action.signal,
    },
  );
  rememberActive(context, active);
  if (accepted.acceptTxDigest !== undefined) return accepted.acceptTxDigest;
  const read = await context.call(action, (options) =>
    context.raw.onboarding.getDWallet({ dwalletId }, options),
  );
  return read.acceptTxDigest ?? null;
}
