import sql from "sql-template-tag";
import { bigint, text, time } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";

/** Reads the charge of a submitted sign request of a project. Returns undefined if the ledger has none. */
export async function readSignCharge(
  db: Queryable,
  { projectId, signRequestId }: { readonly projectId: string; readonly signRequestId: string },
): Promise<SignCharge | undefined> {
  const [charge] = await readRows(
    db,
    sql`SELECT key, - amount_micro_usd AS "priceMicroUsd", created_at AS "createdAt" FROM ledger_entry
        WHERE key = ${`sign:${signRequestId}`} AND project_id = ${projectId}`,
    { key: text, priceMicroUsd: bigint, createdAt: time },
  );
  return charge;
}

/** The ledger entry of a signature's price. */
export interface SignCharge {
  readonly key: string;
  /** In millionths of a US dollar. */
  readonly priceMicroUsd: bigint;
  readonly createdAt: Date;
}
