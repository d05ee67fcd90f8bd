import sql, { raw } from "sql-template-tag";
import { boolean } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { execute, readRows } from "../store/statements.ts";

/**
 * Records the balances at most once in ten minutes, by the database's clock. The first of several callers writes. Reads
 * the chain only if nothing is recorded yet.
 */
export async function sampleTreasury(
  db: Queryable,
  network: string,
  readFunds: () => Promise<TreasuryFunds>,
): Promise<void> {
  const [noted] = await readRows(
    db,
    sql`SELECT EXISTS (SELECT 1 FROM treasury_sample WHERE network = ${network} AND taken_at = ${SLOT}) AS "isNoted"`,
    { isNoted: boolean },
  );
  if (noted?.isNoted) return;
  const { ika, sui, gas } = await readFunds();
  await execute(
    db,
    sql`INSERT INTO treasury_sample (network, taken_at, ika, sui, gas)
        VALUES (${network}, ${SLOT}, ${ika}, ${sui}, ${gas}) ON CONFLICT DO NOTHING`,
  );
  await execute(
    db,
    sql`DELETE FROM treasury_sample WHERE network = ${network} AND taken_at < now() - ${KEPT}`,
  );
}

/** The service's funds, in the smallest units. */
export interface TreasuryFunds {
  readonly ika: bigint;
  readonly sui: bigint;
  /** All SUI of the address that pays for gas. */
  readonly gas: bigint;
}

/** How long balances are kept. */
export const TREASURY_SAMPLE_DAYS = 30;

/** A constant, so that the planner knows how few rows are older. */
const KEPT = raw(`interval '${TREASURY_SAMPLE_DAYS} days'`);

/** The current ten minutes. */
const SLOT = sql`date_bin('10 minutes', now(), '2000-01-01T00:00:00Z'::timestamptz)`;
