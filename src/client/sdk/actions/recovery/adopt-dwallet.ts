import { type ActionOptions, ownSeed, runAction } from "../../action.ts";
import {
  checkCurve,
  checkDWalletName,
  checkObjectId,
  checkSeed,
  checkUserReference,
  checkUuid,
  readSessionDigest,
} from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { loadAdoption } from "../load-flows.ts";
import type { AdoptDWalletArgs, AdoptDWalletResult, AdoptDWalletStage } from "./adopt-within.ts";

/**
 * Brings an Active dWallet that the Treasury holds into the client's project: proves the share from the seed, registers
 * the encryption key, and signs the consent. A repeated call returns the result again.
 *
 * @throws {TssError} DWALLET_TAKEN when another project or user has the dWallet.
 * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
 * @throws {TssError} TOO_MANY_SHARES when the share is beyond the first 10,000 of the dWallet; name it then.
 */
export async function adoptDWallet(
  context: ClientContext,
  args: AdoptDWalletArgs,
  options: ActionOptions<AdoptDWalletStage> = {},
): Promise<AdoptDWalletResult> {
  const { seed, curve, dwalletId, timeoutMs = 180_000 } = args;
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (args.name !== undefined) checkDWalletName(args.name);
  checkUserReference(args.userReference);
  if (args.projectId !== undefined) checkUuid("projectId", args.projectId);
  if (args.encryptedUserSecretKeyShareId !== undefined)
    checkObjectId("encryptedUserSecretKeyShareId", args.encryptedUserSecretKeyShareId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  return await runAction(timeoutMs, options, async (action) => {
    const own = { ...args, seed: ownSeed(action, seed) };
    action.facts["dwalletId"] = dwalletId;
    const { adoptWithin } = await loadAdoption(action);
    return await adoptWithin(context, action, own);
  });
}
