import { type ActionOptions, ownSeed, runAction } from "../../action.ts";
import {
  checkCurve,
  checkObjectId,
  checkPublicKeyHex,
  checkSeed,
  checkUserReference,
  checkUuid,
  readSessionDigest,
} from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { loadSharing } from "../load-flows.ts";
import type {
  AcceptShareArgs,
  AcceptShareResult,
  AcceptShareStage,
  RecipientKey,
  RegisterRecipientArgs,
  RegisterRecipientStage,
  ShareWithArgs,
  ShareWithResult,
  ShareWithStage,
} from "./share-within.ts";

/** Registers the encryption key of a seed, so that the owner of a dWallet can share it. It is free. */
export async function registerRecipient(
  context: ClientContext,
  args: RegisterRecipientArgs,
  options: ActionOptions<RegisterRecipientStage> = {},
): Promise<RecipientKey> {
  const { seed, curve, timeoutMs = 180_000 } = args;
  checkSeed(seed);
  checkCurve(curve);
  checkUserReference(args.userReference);
  return await runAction(timeoutMs, options, async (action) => {
    const own = { ...args, seed: ownSeed(action, seed) };
    const { registerRecipientWithin } = await loadSharing(action);
    return await registerRecipientWithin(context, action, own);
  });
}

/**
 * Encrypts the owner's share of a dWallet for another user, and signs the consent that this user may sign with it. While
 * the recipient has a share, a repeated call returns it, and costs nothing.
 *
 * @throws {TssError} RECIPIENT_MISMATCH when the chain has no such key of the recipient.
 */
export async function shareWith(
  context: ClientContext,
  args: ShareWithArgs,
  options: ActionOptions<ShareWithStage> = {},
): Promise<ShareWithResult> {
  const { seed, curve, dwalletId, recipient, timeoutMs = 180_000 } = args;
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  checkObjectId("recipient.address", recipient.address);
  checkObjectId("recipient.encryptionKeyId", recipient.encryptionKeyId);
  checkUserReference(args.userReference);
  if (args.projectId !== undefined) checkUuid("projectId", args.projectId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  return await runAction(timeoutMs, options, async (action) => {
    const own = { ...args, recipient: { ...recipient }, seed: ownSeed(action, seed) };
    action.facts["dwalletId"] = dwalletId;
    const { shareWithin } = await loadSharing(action);
    return await shareWithin(context, action, own);
  });
}

/**
 * Accepts a share that the owner of a dWallet has sent: decrypts it, proves that it leads to the dWallet's public key, and
 * signs the dWallet's output. A repeated call returns the result again.
 *
 * @throws {TssError} SHARE_UNVERIFIED when the chain shows no share of the dWallet for this seed.
 * @throws {TssError} OUTPUT_MISMATCH when the chain shows another public key than `publicKeyHex`.
 */
export async function acceptShare(
  context: ClientContext,
  args: AcceptShareArgs,
  options: ActionOptions<AcceptShareStage> = {},
): Promise<AcceptShareResult> {
  const { seed, curve, dwalletId, publicKeyHex, timeoutMs = 180_000 } = args;
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (publicKeyHex !== undefined) checkPublicKeyHex(curve, publicKeyHex);
  return await runAction(timeoutMs, options, async (action) => {
    const own = { ...args, seed: ownSeed(action, seed) };
    action.facts["dwalletId"] = dwalletId;
    const { acceptShareWithin } = await loadSharing(action);
    return await acceptShareWithin(context, action, own);
  });
}
