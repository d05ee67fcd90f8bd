import { bytesToHex } from "@noble/hashes/utils.js";
import { CURVES, type CurveName, curveOfNumber } from "../../../../protocol/algorithms.ts";
import { custodyTableId, ownerInEntry } from "../../../../protocol/chain/treasury-custody.ts";
import type { Action } from "../../action.ts";
import { DWALLET, TREASURY } from "../../chain/object-kinds.ts";
import { parseDWalletOf, readObject } from "../../chain/read-dwallet.ts";
import type { ClientContext } from "../../context.ts";
import { TssError } from "../../errors.ts";
import type { Curve } from "../../names.ts";
import { findOwnShares, isTooMany } from "../own-shares.ts";

/** Finds the dWallets of a seed within an action. The arguments contain the action's copy of the seed. */
export async function findWithin(
  context: ClientContext,
  action: Action<FindDWalletsStage>,
  { seed, curve }: Pick<FindDWalletsArgs, "seed" | "curve">,
): Promise<FindDWalletsResult> {
  action.stage("treasury");
  const treasuryId = await context.treasuryId(action);
  const treasury = await readObject(context, action, TREASURY, treasuryId);
  if (treasury === undefined)
    throw new TssError("TREASURY_MISMATCH", "the chain has no such Treasury", { metadata: { treasuryId } });
  action.stage("keys");
  await context.engine.ready();
  const addresses = new Map<CurveName, string>();
  for (const each of curve === undefined ? CURVES : [curve]) {
    const keys = action.own(
      await context.engine.deriveUserKeys({ seed, curve: each, signal: action.signal }),
    );
    addresses.set(each, keys.signerAddress);
  }
  action.stage("search");
  const listed = await search(context, action, custodyTableId(treasury), addresses);
  action.stage("verify");
  const dwallets: FoundDWallet[] = [];
  let isComplete = listed.isComplete;
  for (let start = 0; start < listed.ids.length; start += BATCH_COUNT) {
    const batch = listed.ids.slice(start, start + BATCH_COUNT);
    for (const found of await verify(context, action, batch, addresses)) {
      if (found === "unknown") isComplete = false;
      else dwallets.push(found);
    }
  }
  return { dwallets, isComplete };
}

/** The stages of the search, in order. */
export type FindDWalletsStage = "treasury" | "keys" | "search" | "verify";

/** Arguments of `findDWallets`. */
export interface FindDWalletsArgs {
  /** The 32 bytes that the dWallets were made with. They never leave the client. */
  readonly seed: Uint8Array;
  /** Default: all curves. */
  readonly curve?: Curve | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** The dWallets of a seed. */
export interface FindDWalletsResult {
  readonly dwallets: readonly FoundDWallet[];
  /**
   * False if the search ended at its limit of 1,000 dWallets or 1,000,000 entries of the Treasury, and if it left out a
   * dWallet that has more than 10,000 shares. A fullnode can leave dWallets out without a trace.
   */
  readonly isComplete: boolean;
}

/**
 * A dWallet whose encrypted share the chain holds under the seed's key. Anyone can encrypt a share to that public key,
 * so only `recoverShare` and `readKey` tell whether the dWallet was made from the seed.
 */
export interface FoundDWallet {
  readonly dwalletId: string;
  readonly curve: Curve;
  /** The dWallet's state on the chain, such as `Active`. The share of an Active dWallet can be recovered. */
  readonly state: string;
  readonly encryptedUserSecretKeyShareId: string;
}

/** Searches a Treasury's table, as the fullnodes list it, for dWallets of these owners. */
async function search(
  context: ClientContext,
  action: Action,
  tableId: string,
  addresses: ReadonlyMap<CurveName, string>,
): Promise<{ ids: string[]; isComplete: boolean }> {
  const owners = new Set(addresses.values());
  const ids = new Set<string>();
  let entryCount = 0;
  for await (const { name, value } of context.tableEntries(action, { tableId, hasValues: true })) {
    const owner = ownerInEntry(value);
    if (name.length === ID_BYTES && owner !== undefined && owners.has(owner))
      ids.add(`0x${bytesToHex(name)}`);
    if (++entryCount === MAX_ENTRY_COUNT || ids.size === MAX_FOUND_COUNT)
      return { ids: [...ids], isComplete: false };
  }
  return { ids: [...ids], isComplete: true };
}

/**
 * Returns those of the dWallets whose share the chain holds under the key of their curve, and "unknown" for each dWallet
 * that has too many shares to tell. Anyone can add shares, so such a dWallet must not hide the others.
 */
async function verify(
  context: ClientContext,
  action: Action,
  ids: readonly string[],
  addresses: ReadonlyMap<CurveName, string>,
): Promise<(FoundDWallet | "unknown")[]> {
  const reader = await context.chainReader(action, DWALLET);
  const contents = await reader.getObjects(ids, action.signal);
  const found = await Promise.all(
    [...contents].map(async ([dwalletId, content]): Promise<(FoundDWallet | "unknown")[]> => {
      const dwallet = parseDWalletOf(dwalletId, content);
      const curve = curveOfNumber(dwallet.curveNumber);
      const address = curve && addresses.get(curve);
      if (curve === undefined || address === undefined) return [];
      try {
        const [own] = await findOwnShares(context, action, dwallet, address);
        if (own === undefined) return [];
        const { state } = dwallet;
        return [{ dwalletId, curve, state: state.kind, encryptedUserSecretKeyShareId: own.id }];
      } catch (error) {
        if (isTooMany(error)) return ["unknown"];
        throw error;
      }
    }),
  );
  return found.flat();
}

/** How many dWallets are read at a time. */
const BATCH_COUNT = 8;
const MAX_FOUND_COUNT = 1_000;
const MAX_ENTRY_COUNT = 1_000_000;
const ID_BYTES = 32;
