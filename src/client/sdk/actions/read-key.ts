import type { NamedAddress } from "../../../protocol/signatures/addresses.ts";
import { type ActionOptions, ownSeed, runAction } from "../action.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import type { Curve } from "../names.ts";
import { loadFlows } from "./load-flows.ts";
import type { ShareSource } from "./recover-share.ts";

/**
 * Reads the public key of an Active dWallet from the chain, never from the service, and proves it when the seed is
 * given. The client caches the dWallet.
 *
 * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
 * @throws {TssError} SHARE_MISMATCH when the given share does not lead to the public key.
 */
export async function readKey(
  context: ClientContext,
  args: ReadKeyArgs,
  options: ActionOptions<ReadKeyStage> = {},
): Promise<ReadKeyResult> {
  const { dwalletId, curve, seed, timeoutMs = 180_000 } = args;
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (seed !== undefined) checkSeed(seed);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  return await runAction(timeoutMs, options, async (action) => {
    const own = seed && ownSeed(action, seed);
    action.facts["dwalletId"] = dwalletId;
    const given = { ...args };
    const { readKeyWithin } = await loadFlows(action);
    return await readKeyWithin(context, action, given, own);
  });
}

/** The stages of reading a key, in order. The last two need a seed. */
export type ReadKeyStage = "dwallet" | "parameters" | "share";

/** Arguments of `readKey`. */
export interface ReadKeyArgs extends Partial<ShareSource> {
  readonly dwalletId: string;
  readonly curve: Curve;
  /**
   * The seed that the dWallet was made with. With a seed, the client proves that the public key is the one that the
   * user's share leads to. Without a seed, it trusts the fullnodes for the key.
   */
  readonly seed?: Uint8Array;
  /** The user's share from the onboarding, instead of the one derived from the seed. Needs a seed. */
  readonly userSecretKeyShareHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** The public half of a dWallet, from the chain. */
export interface ReadKeyResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** The public key's addresses on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
}
