import sql from "sql-template-tag";
import { balanceObjectId } from "../../chain/address-balance-reader.ts";
import type { Payment, PaymentReader } from "../../chain/payment-reader.ts";
import { execute, newId, type Queryable, type Transactor } from "../../platform/store/database.ts";
import type { Deposits } from "./deposits.ts";

/** Stores the payments of a transaction to the address. */
export async function recordPayments(
  { database, network }: { readonly database: Transactor; readonly network: string },
  { address, projectId }: WatchedAddress,
  txDigest: string,
  payments: readonly Payment[],
): Promise<RecordedPayments> {
  const ours = payments.filter((payment) => payment.address === address);
  let hasNew = false;
  for (const payment of ours)
    if (await recordPayment(database, { network, projectId, txDigest }, payment)) hasNew = true;
  return { count: ours.length, hasNew };
}

/** A deposit address and the project that its deposits are credited to. */
export interface WatchedAddress {
  readonly address: string;
  readonly projectId: string;
}

/**
 * Reads the payments of the transaction in accepted coins, to any address. Empty if the fullnode does not know the
 * transaction.
 */
export async function readPayments(
  { coins, reader }: Pick<Deposits, "coins"> & { readonly reader: Pick<PaymentReader, "payments"> },
  txDigest: string,
): Promise<readonly Payment[]> {
  const coinTypes = coins.map(({ coinType }) => coinType);
  return (await reader.payments(txDigest, coinTypes)) ?? [];
}

/** The recorded payments of a transaction to an address. */
export interface RecordedPayments {
  readonly count: number;
  /** True if a payment or coin was new to the database. */
  readonly hasNew: boolean;
}

/**
 * Stores a payment as a waiting deposit with its coins. A repeated call adds only coins that the fullnode did not show
 * before. Returns false if nothing was new.
 */
async function recordPayment(
  database: Transactor,
  { network, projectId, txDigest }: { network: string; projectId: string; txDigest: string },
  { address, coinType, amount, coins, funds }: Payment,
): Promise<boolean> {
  return database.transaction(async (db) => {
    const depositCount = await execute(
      db,
      sql`INSERT INTO deposit (network, tx_digest, address, coin_type, id, project_id, amount)
       VALUES (${network}, ${txDigest}, ${address}, ${coinType}, ${newId()}, ${projectId}, ${amount})
       ON CONFLICT (network, tx_digest, address, coin_type) DO NOTHING RETURNING id`,
    );
    const objectIds = coins.map(({ objectId }) => objectId);
    const versions = coins.map(({ version }) => version);
    const digests = coins.map(({ digest }) => digest);
    const amounts = coins.map((coin) => coin.amount.toString());
    const coinCount = await execute(
      db,
      sql`INSERT INTO deposit_coin (network, coin_type, deposit_id, object_id, version, digest, amount)
       SELECT d.network, d.coin_type, d.id, c.object_id, c.version, c.digest, c.amount
       FROM deposit d CROSS JOIN
         unnest(${objectIds}::text[], ${versions}::text[], ${digests}::text[], ${amounts}::numeric[])
         AS c (object_id, version, digest, amount)
       WHERE d.network = ${network} AND d.tx_digest = ${txDigest} AND d.address = ${address}
         AND d.coin_type = ${coinType}
       ON CONFLICT (network, object_id, version) DO NOTHING RETURNING object_id`,
    );
    return depositCount + coinCount + (await recordFunds(db)) > 0;
  });

  /** The part in the address balance is no object. It has the accumulator's id, and the transaction as its version. */
  async function recordFunds(db: Queryable): Promise<number> {
    if (funds <= 0n) return 0;
    return execute(
      db,
      sql`INSERT INTO deposit_coin (network, coin_type, deposit_id, object_id, version, digest, amount,
                                    in_address_balance)
       SELECT d.network, d.coin_type, d.id, ${balanceObjectId(address, coinType)}, d.tx_digest, '', ${String(funds)}::numeric,
              true
       FROM deposit d
       WHERE d.network = ${network} AND d.tx_digest = ${txDigest} AND d.address = ${address}
         AND d.coin_type = ${coinType}
       ON CONFLICT (network, object_id, version) DO NOTHING RETURNING object_id`,
    );
  }
}
