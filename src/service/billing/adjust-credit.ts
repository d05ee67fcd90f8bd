import { create } from "@bufbuild/protobuf";
import sql from "sql-template-tag";
import { type AdjustCreditResponse, AdjustCreditResponseSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import type { AdminCaller } from "../access/caller.ts";
import { requireProject } from "../access/projects.ts";
import { creditProject } from "../ledger/credit-project.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce, wholeReply } from "../platform/idempotency/run-once.ts";
import { type Database, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { encodeLedgerEntry, LEDGER_ENTRY_COLUMNS, type LedgerEntryRow } from "./ledger-entries.ts";

/**
 * Books an adjustment as one ledger entry with its own reference, once per idempotency key. A repeated call returns the
 * first reply. Throws PROJECT_NOT_FOUND, INSUFFICIENT_CREDIT if the balance would fall below the held amount,
 * IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export function adjustCredit(
  database: Database,
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  { projectId, amountMicroUsd, reason }: CreditAdjustment,
): Promise<AdjustCreditResponse> {
  return runOnce<AdjustCreditResponse>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    {
      ...wholeReply(AdjustCreditResponseSchema),
      async effect(db) {
        await requireProject(db, [network], projectId);
        const credit = { projectId, amountMicroUsd, reference: newId(), description: reason };
        if (!(await creditProject(db, origin, credit))) {
          throw new ServiceError("INSUFFICIENT_CREDIT", "the balance would fall below the held amount");
        }
        const entry = await readEntry(db, `credit:${credit.reference}`);
        return create(AdjustCreditResponseSchema, { ledgerEntry: encodeLedgerEntry(entry) });
      },
    },
  );
}

/** A change of credit by an operator. */
export interface CreditAdjustment {
  readonly projectId: string;
  /** Negative to withdraw credit. */
  readonly amountMicroUsd: bigint;
  /** Free text, which the project sees too. */
  readonly reason: string;
}

/**
 * Reads the entry just booked. Its balance is the project's, because no other entry can follow within the transaction.
 */
async function readEntry(db: Queryable, key: string): Promise<LedgerEntryRow> {
  const [entry] = await readRows(
    db,
    sql`SELECT e.key, e.kind, e.amount_micro_usd AS "amountMicroUsd", e.created_at AS "createdAt",
            e.description, NULL AS "dwalletId", NULL AS "depositReference", p.balance_micro_usd AS "balanceMicroUsd"
     FROM ledger_entry e JOIN project p ON p.id = e.project_id WHERE e.key = ${key}`,
    LEDGER_ENTRY_COLUMNS,
  );
  if (entry === undefined) throw new Error(`the entry ${key} was booked and is not there`);
  return entry;
}
