import sql from "sql-template-tag";
import { text } from "../../store/columns.ts";
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
    sql`SELECT c.sweep_id AS "sweepId", c.object_id AS "objectId", c.version, c.digest, d.tx_digest AS "depositDigest"
     FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id
     WHERE c.sweep_id = ANY(${ids}::uuid[]) ORDER BY c.object_id`,
    { sweepId: text, objectId: text, version: text, digest: text, depositDigest: text },
  );
  return new Map(
    sweeps.map((sweep) => [sweep.id, { ...sweep, coins: coins.filter((coin) => coin.sweepId === sweep.id) }]),
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
}
