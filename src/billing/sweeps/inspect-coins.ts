import type { ObjectChanges } from "../../chain/outcome.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { userOf } from "../../chain/submit/spent-input.ts";
import type { OwnedRef } from "../../chain/treasury/treasury-calls.ts";

/** Inspects coins on the chain. Returns one fate for each, by object id. Throws CHAIN_UNAVAILABLE. */
export async function inspectCoins(
  reader: CoinReader,
  coins: readonly DepositedCoin[],
): Promise<ReadonlyMap<string, CoinFate>> {
  if (coins.length === 0) return new Map();
  const found = await reader.ownedObjects(coins.map(({ objectId }) => objectId));
  const known = new Map<string, Promise<ObjectChanges | undefined>>();
  // The coins of a sweep usually share their history.
  const effects = (digest: string) => {
    const reading = known.get(digest) ?? reader.effects(digest);
    known.set(digest, reading);
    return reading;
  };
  const fates = new Map<string, CoinFate>();
  for (const coin of coins) fates.set(coin.objectId, await fateOf(coin));
  return fates;

  async function fateOf({ objectId, version, depositDigest }: DepositedCoin): Promise<CoinFate> {
    const current = found.get(objectId);
    if (current === undefined) {
      return { kind: (await reader.transaction(depositDigest)) === undefined ? "unknown" : "gone" };
    }
    if (current.version === version) return { kind: "there" };
    const byDigest = await userOf({ ownedObjects: async () => found, effects }, objectId, version);
    const changes = byDigest === undefined ? undefined : await effects(byDigest);
    if (byDigest === undefined || changes === undefined) return { kind: "unknown" };
    return {
      kind: "used",
      byDigest,
      ref: changes.written.get(objectId),
      owner: changes.owners.get(objectId),
    };
  }
}

/** A coin in the version that its deposit created. */
export interface DepositedCoin extends OwnedRef {
  /** The transaction that created this version. */
  readonly depositDigest: string;
}

/**
 * The fate of a deposited version of a coin.
 * - `there`: nothing has used it.
 * - `used`: this transaction used it and left it to `owner` as `ref`; both undefined if it deleted the coin.
 * - `gone`: the fullnode knows the deposit but not the coin, which was merged into another one.
 * - `unknown`: this fullnode does not show enough to tell.
 */
export type CoinFate =
  | { readonly kind: "there" | "gone" | "unknown" }
  | {
      readonly kind: "used";
      readonly byDigest: string;
      readonly ref: OwnedRef | undefined;
      readonly owner: string | undefined;
    };

/** The reads that an inspection needs. */
export type CoinReader = Pick<NetworkReader, "ownedObjects" | "effects" | "transaction" | "addressBalance">;
