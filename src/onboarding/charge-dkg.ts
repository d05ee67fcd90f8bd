import sql, { type Sql } from "sql-template-tag";
import { operationInsert } from "../chain/operation.ts";
import { postings } from "../ledger/postings.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/** Charges the DKG and queues it, in one statement. Returns false and does nothing if the credit does not suffice. */
export async function chargeDkg(db: Queryable, dkg: NewDkg): Promise<boolean> {
  const { operationId, network, priority, traceParent } = dkg;
  const queuedCount = await execute(
    db,
    sql`WITH ${charged(dkg)}, asked AS (
          SELECT ${operationId}::uuid AS operation_id, ${network}::text AS network, id AS subject_id FROM posting_charge
        ) ${operationInsert({ kind: "dkg", priority, traceParent }, sql`asked`)} RETURNING id`,
  );
  return queuedCount > 0;
}

/** A DKG to charge and queue. The row of its dWallet exists. */
export interface NewDkg {
  /** The id of the dWallet's row. */
  readonly dwalletId: string;
  readonly projectId: string;
  readonly network: string;
  readonly priceMicroUsd: bigint;
  readonly operationId: string;
  readonly priority: number;
  readonly traceParent: string | undefined;
}

/** Charges a DKG that the restored, older copy of the database does not know, if the credit suffices. */
export async function chargeLostDkg(db: Queryable, dkg: Charge): Promise<void> {
  await execute(
    db,
    sql`WITH ${charged(dkg)}
        UPDATE dwallet d SET price_micro_usd = s.price_micro_usd
        FROM source s JOIN posting_charge USING (id) WHERE d.id = s.id`,
  );
}

type Charge = Pick<NewDkg, "dwalletId" | "projectId" | "priceMicroUsd">;

function charged({ dwalletId, projectId, priceMicroUsd }: Charge): Sql {
  return sql`source AS (
      SELECT ${dwalletId}::uuid AS id, ${projectId}::uuid AS project_id, ${priceMicroUsd}::bigint AS price_micro_usd
    ), ${postings.charge(sql`source`, "dkg")}`;
}
