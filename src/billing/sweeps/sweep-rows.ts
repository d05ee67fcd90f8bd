import sql from "sql-template-tag";
import { boolean, text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { readRows } from "../../store/statements.ts";
import type { DepositedCoin } from "./inspect-coins.ts";
import type { SweptAddress } from "./sweep-signer.ts";

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
