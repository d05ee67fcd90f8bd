import sql from "sql-template-tag";
import type { ObjectChanges } from "../../chain/outcome.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { userOf } from "../../chain/submit/send-transaction.ts";
import type { OwnedRef } from "../../chain/treasury/treasury-calls.ts";
import { boolean, text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { SweptAddress } from "./sweep-signer.ts";

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
interface DepositedCoin extends OwnedRef {
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

/** Reads sweeps by their ids, in any state. */
export async function readSweeps(
  db: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SweepSubject>> {
  const sweeps = await readRows(
    db,
    sql`SELECT s.id, a.project_id AS "projectId", a.reference, s.address, s.coin_type AS "coinType", s.destination,
            s.amount::text AS amount
     FROM sweep s JOIN deposit_address a ON a.address = s.address WHERE s.id = ANY(${ids}::uuid[])`,
    {
      id: text,
      projectId: text,
      reference: text,
      address: text,
      coinType: text,
      destination: text,
      amount: text,
    },
  );
  const coins = await readRows(
    db,
    sql`SELECT c.sweep_id AS "sweepId", c.object_id AS "objectId", c.version, c.digest, d.tx_digest AS "depositDigest",
            c.amount::text AS amount, c.in_address_balance AS "inAddressBalance"
     FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id
     WHERE c.sweep_id = ANY(${ids}::uuid[]) ORDER BY c.object_id`,
    {
      sweepId: text,
      objectId: text,
      version: text,
      digest: text,
      depositDigest: text,
      amount: text,
      inAddressBalance: boolean,
    },
  );
  return new Map(
    sweeps.map((sweep) => {
      const parts = coins.filter((coin) => coin.sweepId === sweep.id);
      const funds = parts
        .filter(({ inAddressBalance }) => inAddressBalance)
        .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
      return [sweep.id, { ...sweep, coins: parts.filter((part) => !part.inAddressBalance), funds }];
    }),
  );
}

/** A sweep with its coins. */
export interface SweepSubject extends SweptAddress {
  readonly id: string;
  readonly coinType: string;
  readonly destination: string;
  /** In the coin's smallest unit, as text. */
  readonly amount: string;
  readonly coins: readonly DepositedCoin[];
  /** The part of the amount that the sweep withdraws from the address balance. */
  readonly funds: bigint;
}
