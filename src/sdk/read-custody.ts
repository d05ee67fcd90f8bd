import {
  custodyPlaces,
  type HeldDWallet,
  parseHeldCapId,
  parseHeldDWallet,
  parseNextNonce,
} from "../protocol/treasury-custody.ts";
import type { Action } from "./action.ts";
import type { ChainAccess } from "./context.ts";
import { TssError } from "./errors.ts";
import { DWALLET_CAP_ENTRY, TREASURY, TREASURY_DWALLET_ENTRY, TREASURY_NONCE_ENTRY } from "./object-kinds.ts";

/**
 * Reads a Treasury's record of a dWallet from the client's fullnodes. A false Treasury id gains an attacker nothing:
 * the user signs for exactly this Treasury.
 */
export async function readTreasuryCustody(
  chain: Pick<ChainAccess, "chainReader">,
  action: Action,
  treasuryId: string,
  dwalletId: string,
): Promise<TreasuryCustody> {
  const read = async (kind: Parameters<ChainAccess["chainReader"]>[1], id: string) =>
    (await (await chain.chainReader(action, kind)).getObjects([id], action.signal)).get(id);
  const treasury = await read(TREASURY, treasuryId);
  if (treasury === undefined)
    throw new TssError("TREASURY_MISMATCH", "the chain has no such Treasury", { metadata: { treasuryId } });
  const places = custodyPlaces(treasury, dwalletId);
  const [dwallet, cap, nonce] = await Promise.all([
    read(TREASURY_DWALLET_ENTRY, places.dwalletEntryId),
    read(DWALLET_CAP_ENTRY, places.capEntryId),
    read(TREASURY_NONCE_ENTRY, places.nonceEntryId),
  ]);
  return {
    held: dwallet && cap && { ...parseHeldDWallet(dwallet), dwalletCapId: parseHeldCapId(cap) },
    ...{ nextNonce: parseNextNonce(nonce), treasuryId },
    ...{ capEntryId: places.capEntryId, nonceEntryId: places.nonceEntryId },
  };
}

/** A Treasury's record of a dWallet. */
export interface TreasuryCustody {
  readonly treasuryId: string;
  /** Undefined if the Treasury does not hold the capability. */
  readonly held: (HeldDWallet & { readonly dwalletCapId: string }) | undefined;
  readonly nextNonce: bigint;
  /** The object that owns the capability while the Treasury holds it. */
  readonly capEntryId: string;
  /** The object that every authorization of the dWallet writes. */
  readonly nonceEntryId: string;
}
