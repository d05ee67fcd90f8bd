import type { ChainDWallet } from "../../../protocol/chain/chain-objects.ts";
import {
  custodyPlaces,
  type HeldDWallet,
  parseHeldCapId,
  parseHeldDWallet,
  parseNextNonce,
} from "../../../protocol/chain/treasury-custody.ts";
import type { Action } from "../action.ts";
import {
  DWALLET_CAP,
  DWALLET_CAP_ENTRY,
  IMPORTED_KEY_CAP,
  TREASURY,
  TREASURY_DWALLET_ENTRY,
  TREASURY_NONCE_ENTRY,
} from "../chain/object-kinds.ts";
import type { ChainAccess, ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";

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
  const [dwallet, capOfDkg, nonce] = await Promise.all([
    read(TREASURY_DWALLET_ENTRY, places.dwalletEntryId),
    read(DWALLET_CAP_ENTRY, places.capEntryId),
    read(TREASURY_NONCE_ENTRY, places.nonceEntryId),
  ]);
  const isImportedKey = dwallet !== undefined && capOfDkg === undefined;
  const capEntryId = isImportedKey ? places.importedKeyEntryId : places.capEntryId;
  const cap = isImportedKey ? await read(DWALLET_CAP_ENTRY, capEntryId) : capOfDkg;
  return {
    held: dwallet && cap && { ...parseHeldDWallet(dwallet), dwalletCapId: parseHeldCapId(cap) },
    nextNonce: parseNextNonce(nonce),
    treasuryId,
    capEntryId,
    nonceEntryId: places.nonceEntryId,
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

/**
 * Checks that the user can take a new dWallet out of the service: the Treasury holds its capability and records the
 * user as its owner. No other check of an onboarding implies this. The user's share and the encrypted share prove whose
 * key it is, but not who holds the capability: a service could request the DKG with a wallet of its own and keep the
 * capability.
 *
 * The capability's id comes from the dWallet, whose type only Ika's package can create. Sui itself records which object
 * owns the capability. This function does not check the code of the Treasury's package: see the threat model.
 *
 * Throws CUSTODY_MISMATCH.
 */
export async function checkCustody(
  context: ClientContext,
  action: Action,
  dwallet: Pick<ChainDWallet, "id" | "dwalletCapId" | "isImportedKey">,
  signerAddress: string,
): Promise<void> {
  const treasuryId = await context.treasuryId(action);
  const custody = await readTreasuryCustody(context, action, treasuryId, dwallet.id);
  const mismatch = (message: string) =>
    new TssError("CUSTODY_MISMATCH", `${message}; do not use this dWallet`, {
      metadata: { dwalletId: dwallet.id, treasuryId },
    });
  if (custody.held === undefined) throw mismatch("the Treasury does not hold the dWallet's capability");
  if (custody.held.owner !== signerAddress)
    throw mismatch("the Treasury records another owner than the user");
  const kind = dwallet.isImportedKey ? IMPORTED_KEY_CAP : DWALLET_CAP;
  const holder = await context.ownerOf(action, kind, dwallet.dwalletCapId);
  if (custody.held.dwalletCapId !== dwallet.dwalletCapId || holder !== custody.capEntryId)
    throw mismatch("the dWallet's capability is not in the Treasury");
}
