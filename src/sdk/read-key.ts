import { SecretBytes } from "../crypto/secret-bytes.ts";
import { addressesOfKey, type NamedAddress } from "../protocol/addresses.ts";
import { bytesToHex } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { checkCurve, checkObjectId, checkSeed, readSecretHex, readSessionDigest } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { openFittingShare } from "./fitting-share.ts";
import type { Curve } from "./names.ts";
import { ownSeed } from "./own-seed.ts";
import { readActiveDWallet } from "./read-dwallet.ts";
import type { ShareSource } from "./recover-share.ts";

/** The stages of reading a key, in order; the last two only with a seed. */
export type ReadKeyStage = "dwallet" | "parameters" | "share";

/** Which key is read. */
export interface ReadKeyArgs extends Partial<ShareSource> {
  readonly dwalletId: string;
  readonly curve: Curve;
  /**
   * The seed that the dWallet was made with. With it the public key is proven: it must be the one that the user's share
   * leads to. Without it the key is the word of the fullnodes.
   */
  readonly seed?: Uint8Array;
  /** The user's share from the onboarding, in place of the one that is derived from the seed. Only with a seed. */
  readonly userSecretKeyShareHex?: string | undefined;
  /** Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** The public half of a dWallet, as the chain has it. */
export interface ReadKeyResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** What the public key is called on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
}

/**
 * Reads the public key of an Active dWallet from the chain, never from the service, and proves it where the seed is given.
 * The client remembers what it read. Throws a TssError: SHARE_UNVERIFIED or SHARE_MISMATCH for a public key that is not the
 * user's.
 */
export async function readKey(
  context: ClientContext,
  args: ReadKeyArgs,
  options: ActionOptions<ReadKeyStage> = {},
): Promise<ReadKeyResult> {
  const { dwalletId, curve, seed, userSecretKeyShareHex: shareHex, timeoutMs = 180_000 } = args;
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (seed !== undefined) checkSeed(seed);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  return await runAction(timeoutMs, options, async (action) => {
    const own = seed && ownSeed(action, seed);
    action.facts["dwalletId"] = dwalletId;
    action.stage("dwallet");
    const dwallet = await readActiveDWallet(context, action, dwalletId, curve);
    if (own !== undefined) {
      const given =
        shareHex === undefined
          ? undefined
          : action.own(new SecretBytes(readSecretHex("userSecretKeyShareHex", shareHex)));
      await openFittingShare(context, action, dwallet, { ...args, seed: own }, given);
    }
    const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
    return {
      dwallet: { id: dwalletId, curve },
      publicKeyHex: bytesToHex(publicKey),
      addresses: addressesOfKey(curve, publicKey),
    };
  });
}
