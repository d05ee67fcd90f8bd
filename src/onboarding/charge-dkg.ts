import { postings } from "../billing/postings.ts";
import type { Sql } from "../store/database.ts";

/** A DKG to be paid for and queued. The row of its dWallet is there. */
export interface NewDkg {
  /** The row. */
  readonly dwalletId: string;
  readonly projectId: string;
  readonly network: string;
  readonly priceMicroUsd: bigint;
  readonly operationId: string;
  readonly priority: number;
  readonly traceParent: string | undefined;
}

/** Charges the DKG and queues it, in one statement. False, and nothing is done, where the credit does not pay for it. */
export async function chargeDkg(sql: Sql, dkg: NewDkg): Promise<boolean> {
  const queued = await sql.query(CHARGE, [
    dkg.dwalletId,
    dkg.projectId,
    dkg.priceMicroUsd,
    dkg.operationId,
    dkg.network,
    dkg.priority,
    dkg.traceParent ?? null,
  ]);
  return queued.length > 0;
}

/** Charges for a DKG that was requested before an older copy of the database was restored, if the credit pays for it. */
export async function chargeLostDkg(
  sql: Sql,
  { dwalletId, projectId, priceMicroUsd }: Pick<NewDkg, "dwalletId" | "projectId" | "priceMicroUsd">,
): Promise<void> {
  await sql.query(CHARGE_LOST, [dwalletId, projectId, priceMicroUsd]);
}

const SOURCE = "source AS (SELECT $1::uuid AS id, $2::uuid AS project_id, $3::bigint AS price_micro_usd)";

const CHARGE = `
WITH ${SOURCE}, ${postings.charge("source", "dkg")}
INSERT INTO chain_operation (id, network, kind, subject_id, priority, trace_parent)
SELECT $4::uuid, $5, 'dkg', id, $6, $7 FROM posting_charge RETURNING id`;

const CHARGE_LOST = `
WITH ${SOURCE}, ${postings.charge("source", "dkg")}
UPDATE dwallet d SET price_micro_usd = s.price_micro_usd FROM source s JOIN posting_charge USING (id) WHERE d.id = s.id`;
