import { bytesToHex } from "@noble/hashes/utils.js";
import { type ChainDWallet, parseEncryptedShare } from "../../../protocol/chain/chain-objects.ts";
import type { Action } from "../action.ts";
import { ENCRYPTED_SHARE } from "../chain/object-kinds.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";

/**
 * Finds the encrypted shares of a dWallet that the chain holds under the key of one user: first the DKG's share, then
 * those that another user has passed on, and in each case the accepted ones first. It reads no further than the accepted
 * share of the DKG, which is the first. The list of the dWallet's shares comes from any fullnode. The shares themselves
 * are objects of Ika's own package that all fullnodes agree on, so a lying fullnode can hide a share, and cannot invent
 * one.
 *
 * Throws CHAIN_UNAVAILABLE, FULLNODES_DISAGREE or OBJECT_MISMATCH, and TOO_MANY_SHARES if the list has more than 10,000.
 */
export async function findOwnShares(
  context: ClientContext,
  action: Action,
  dwallet: Pick<ChainDWallet, "id" | "encryptedShareTableId">,
  signerAddress: string,
): Promise<OwnShare[]> {
  const own: OwnShare[] = [];
  for await (const shareIds of listShareIds(context, action, dwallet)) {
    const read = await readOwnShares(context, action, dwallet, signerAddress, shareIds);
    own.push(...read);
    if (read.some(({ isOfDkg, isAccepted }) => isOfDkg && isAccepted)) break;
  }
  return own.sort(byUse);
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
    .sort(byUse);
}

/** Returns whether the chain lists too many shares of a dWallet, so that the user's own may be beyond them. */
export function isTooMany(error: unknown): boolean {
  return error instanceof TssError && error.reason === "TOO_MANY_SHARES";
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

/** The DKG's share before those that were passed on, and the accepted ones before the others. */
const byUse = (a: OwnShare, b: OwnShare): number =>
  Number(b.isOfDkg) - Number(a.isOfDkg) || Number(b.isAccepted) - Number(a.isAccepted);

/** Yields the ids of a dWallet's shares, each once, as many at a time as one read of a fullnode has. */
async function* listShareIds(
  context: ClientContext,
  action: Action,
  { id: dwalletId, encryptedShareTableId: tableId }: Pick<ChainDWallet, "id" | "encryptedShareTableId">,
): AsyncGenerator<string[]> {
  const known = new Set<string>();
  let unread: string[] = [];
  let entryCount = 0;
  for await (const { name } of context.tableEntries(action, { tableId, hasValues: false })) {
    const shareId = `0x${bytesToHex(name)}`;
    if (name.length === ID_BYTES && !known.has(shareId)) {
      known.add(shareId);
      unread.push(shareId);
    }
    if (known.size > MAX_SHARE_COUNT || ++entryCount > MAX_ENTRY_COUNT)
      throw new TssError("TOO_MANY_SHARES", "the chain lists too many shares of the dWallet", {
        metadata: { dwalletId, maxCount: String(MAX_SHARE_COUNT) },
      });
    if (unread.length < READ_COUNT) continue;
    yield unread;
    unread = [];
  }
  if (unread.length > 0) yield unread;
}

/**
 * A DKG makes one share, and each transfer of the share to another user makes another. For a fee, anyone can add
 * copies of a share that the chain shows, so the bound is far above what users need.
 */
const MAX_SHARE_COUNT = 10_000;
/** Each of up to eight fullnodes lists all shares. */
const MAX_ENTRY_COUNT = 8 * MAX_SHARE_COUNT;
/** What a fullnode returns in one reply. */
const READ_COUNT = 50;
const ID_BYTES = 32;
