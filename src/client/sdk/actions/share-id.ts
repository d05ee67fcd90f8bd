import type { ChainDWallet } from "../../../protocol/chain/chain-objects.ts";
import type { Action } from "../action.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";
import type { Curve } from "../names.ts";
import { askIfReachable } from "./ask-service.ts";
import { findOwnShares } from "./own-shares.ts";

/**
 * Returns the id of the user's encrypted share, from the chain or else from the service.
 *
 * Throws SHARE_UNVERIFIED when neither knows one, and the error of the chain when it does not answer.
 */
export async function findShareId(
  context: ClientContext,
  action: Action,
  source: SeedOnCurve,
  dwallet: ChainDWallet,
): Promise<string> {
  let failure: unknown = new TssError("SHARE_UNVERIFIED", NO_SHARE);
  try {
    const shareId = await shareIdOnChain(context, action, source, dwallet);
    if (shareId !== undefined) return shareId;
  } catch (cause) {
    action.signal.throwIfAborted();
    failure = cause;
  }
  const row = await askIfReachable(context, action, dwallet.id);
  if (row !== undefined) return row.encryptedUserSecretKeyShareId;
  throw failure;
}

/** Returns the id of the user's encrypted share, or undefined if the chain has none. Throws as the chain's reads do. */
export async function shareIdOnChain(
  context: ClientContext,
  action: Action,
  { seed, curve }: SeedOnCurve,
  dwallet: ChainDWallet,
): Promise<string | undefined> {
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));
  const [own] = await findOwnShares(context, action, dwallet, keys.signerAddress);
  return own?.id;
}

/** A seed and the curve of a dWallet. */
interface SeedOnCurve {
  /** The action's copy. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
}

/** How an action finds the public values that a share follows from. */
export interface FoundBy {
  /** The id of the user's encrypted share, if it is known. */
  readonly encryptedUserSecretKeyShareId?: string | undefined;
  /**
   * Whether to ask the chain before the service, which may be off. It costs more reads, so actions that need the
   * service anyway ask the service first. Default false.
   */
  readonly isChainFirst?: boolean;
}

const NO_SHARE = "the chain shows no share of the dWallet that is encrypted to this seed's key";
