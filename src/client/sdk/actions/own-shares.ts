import { bytesToHex } from "@noble/hashes/utils.js";
import { type ChainDWallet, parseEncryptedShare } from "../../../protocol/chain/chain-objects.ts";
import type { Action } from "../action.ts";
import { ENCRYPTED_SHARE } from "../chain/object-kinds.ts";
import type { ClientContext } from "../context.ts";

/**
 * Finds the encrypted shares of a dWallet that the chain holds under the key of one user: first the DKG's share, then
 * those that another user has passed on, and in each case the accepted ones first. The list of the dWallet's shares
 * comes from any fullnode. The shares themselves are objects of Ika's own package that all fullnodes agree on, so a
 * lying fullnode can hide a share, and cannot invent one.
 *
 * Throws CHAIN_UNAVAILABLE, FULLNODES_DISAGREE or OBJECT_MISMATCH.
 */
export async function findOwnShares(
  context: ClientContext,
  action: Action,
  dwallet: Pick<ChainDWallet, "id" | "encryptedShareTableId">,
  signerAddress: string,
): Promise<OwnShare[]> {
  const tableId = dwallet.encryptedShareTableId;
  const shareIds = new Set<string>();
  let entryCount = 0;
  for await (const { name } of context.tableEntries(action, { tableId, hasValues: false })) {
    if (name.length === ID_BYTES) shareIds.add(`0x${bytesToHex(name)}`);
    if (++entryCount === MAX_ENTRY_COUNT) break;
  }
  return await readOwnShares(context, action, dwallet, signerAddress, [...shareIds]);
}

/** Reads those of the named shares that are the user's own, in the order of {@link findOwnShares}. Throws as it does. */
export async function readOwnShares(
  context: ClientContext,
  action: Action,
  { id }: Pick<ChainDWallet, "id">,
  signerAddress: string,
  shareIds: readonly string[],
): Promise<OwnShare[]> {
  const reader = await context.chainReader(action, ENCRYPTED_SHARE);
  const contents = await reader.getObjects(shareIds, action.signal);
  return [...contents]
    .map(([shareId, content]) => ({ ...parseEncryptedShare(content), id: shareId }))
    .filter(({ dwalletId, encryptionKeyAddress: owner }) => dwalletId === id && owner === signerAddress)
    .map(({ id: shareId, state, sourceShareId }) => ({
      id: shareId,
      isAccepted: state.kind === "KeyHolderSigned",
      userOutputSignature: state.kind === "KeyHolderSigned" ? state.userOutputSignature : undefined,
      isOfDkg: sourceShareId === undefined,
    }))
    .sort((a, b) => Number(b.isOfDkg) - Number(a.isOfDkg) || Number(b.isAccepted) - Number(a.isAccepted));
}

/** An encrypted share of the user. */
interface OwnShare {
  readonly id: string;
  /** Whether the user's signer has signed the dWallet's output. */
  readonly isAccepted: boolean;
  /** The signature over the output, as the chain has it; undefined for a share that is not accepted. */
  readonly userOutputSignature: Uint8Array | undefined;
  /** Whether the DKG made it, so that its table entry names the DKG's transaction. Users pass on the others. */
  readonly isOfDkg: boolean;
}

/**
 * A DKG makes one share, and each transfer of the share to another user makes another. Against a fee, anyone can add
 * copies of a share that the chain shows, so a share may be beyond this bound.
 */
const MAX_ENTRY_COUNT = 200;
const ID_BYTES = 32;
