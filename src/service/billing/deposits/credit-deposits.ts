import sql, { type Sql } from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../../audit/audit-event.ts";
import { eventInsert } from "../../events/event.ts";
import { depositPostings } from "../../ledger/postings.ts";
import { bigint, text } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Deposits } from "./deposits.ts";

/**
 * Credits the project's waiting deposits at the current prices if together they reach the minimum. One statement
 * changes the state and the balance, and writes one ledger entry each and the audit trail. Deposits without a fresh
 * price keep waiting and do not count. A value is the amount times the price, rounded down to a micro-USD. Returns the
 * number of credited deposits. Locks the rows before adding them up, so that the second of two concurrent calls finds
 * none. Writes the entries under the project's lock, like all entries.
 */
export async function creditDeposits(
  db: Queryable,
  origin: AuditOrigin,
  deposits: Deposits,
  projectId: string,
): Promise<number> {
  return execute(
    db,
    sql`
WITH waiting AS (${waiting(deposits, ofProject(projectId))} ORDER BY d.id FOR UPDATE OF d), total AS (
  SELECT sum(value)::bigint AS value FROM waiting HAVING sum(value) >= ${deposits.minimumMicroUsd}::bigint
), changed AS (${depositPostings.balance(sql`total`, projectId)}), credited AS (
  UPDATE deposit d SET state = 'credited', price_pico_usd = w.price, value_micro_usd = w.value, ledger_key = w.key,
    credited_at = now()
  FROM waiting w JOIN changed USING (project_id) WHERE d.id = w.id
  RETURNING d.id, d.project_id, d.tx_digest, d.coin_type, d.amount, d.value_micro_usd, d.address
), noted AS (${creditEventInsert(sql`credited`)}), entries AS (${depositPostings.entries(sql`waiting JOIN changed USING (project_id)`)}
), audited AS (${auditInsert("deposit.credit", sql`credited`, origin)})
SELECT id FROM credited`,
  );
}

/** Returns the current value of the project's waiting deposits with a fresh price, in micro-USD. */
export async function waitingValue(db: Queryable, deposits: Deposits, projectId: string): Promise<bigint> {
  const [sum] = await readRows(
    db,
    sql`WITH waiting AS (${waiting(deposits, ofProject(projectId))}) SELECT coalesce(sum(value), 0)::bigint AS value FROM waiting`,
    { value: bigint },
  );
  return sum?.value ?? 0n;
}

/** Returns up to `limit` projects whose waiting deposits reach the minimum at the current prices. */
export async function creditableProjects(
  db: Queryable,
  deposits: Deposits,
  limit: number,
): Promise<readonly string[]> {
  const rows = await readRows(
    db,
    sql`WITH waiting AS (${waiting(deposits, sql`true`)})
        SELECT project_id AS id FROM waiting GROUP BY project_id
        HAVING ${deposits.minimumMicroUsd}::bigint <= sum(value) LIMIT ${limit}`,
    { id: text },
  );
  return rows.map(({ id }) => id);
}

const ofProject = (projectId: string): Sql => sql`d.project_id = ${projectId}::uuid`;

/** Selects the waiting deposits that match `of` and whose coins have a fresh price, with the value of each. */
function waiting({ network, coins, prices }: Deposits, of: Sql): Sql {
  const priced = coins.flatMap(({ coinType, decimals }) => {
    const price = prices.priceOf(coinType);
    return price === undefined ? [] : [{ coinType, price, decimals }];
  });
  const coinTypes = priced.map(({ coinType }) => coinType);
  const picoUsd = priced.map(({ price }) => price.picoUsd.toString());
  // The divisor from pico-USD per coin to micro-USD per unit.
  const scales = priced.map(({ decimals }) => (10n ** BigInt(decimals + 6)).toString());
  return sql`
  SELECT d.id, d.project_id, p.price, div(d.amount * p.price, p.scale)::bigint AS value,
    'deposit:' || d.network || ':' || d.tx_digest || ':' || d.address || ':' || d.coin_type AS key
  FROM deposit d
  JOIN unnest(${coinTypes}::text[], ${picoUsd}::bigint[], ${scales}::numeric[]) AS p (coin_type, price, scale)
    USING (coin_type)
  WHERE ${of} AND d.network = ${network} AND d.state = 'waiting'`;
}

/** Returns a fragment of a larger statement that writes one event for each credited deposit of `source`. */
function creditEventInsert(source: Sql): Sql {
  return eventInsert(
    "deposit.credited",
    sql`(SELECT c.project_id, c.id::text AS subject, NULL::text AS user_reference,
           jsonb_build_object('deposit_id', c.id, 'value_micro_usd', c.value_micro_usd::text, 'amount', c.amount::text,
             'coin_type', c.coin_type, 'tx_digest', c.tx_digest, 'address', c.address,
             'reference', nullif(a.reference, '')) AS data
         FROM ${source} c JOIN deposit_address a ON a.address = c.address) AS noted`,
  );
}
