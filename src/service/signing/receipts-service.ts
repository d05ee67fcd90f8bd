import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import sql from "sql-template-tag";
import type { Receipts } from "../../../gen/proto/tss/v1/receipts_pb.ts";
import { callerOf } from "../access/caller.ts";
import { encodeAuditProof } from "../audit/encode-audit.ts";
import { getSubmissionProof } from "../audit/list-audit-events.ts";
import { readSignCharge } from "../ledger/read-charge.ts";
import type { Coordination } from "../platform/coordination/coordination.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { bytea } from "../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../platform/store/database.ts";
import { encodeSignRequest } from "./encode-sign-request.ts";
import { readShownSignRequest } from "./shown-sign-request.ts";
import { signRequestNotFound } from "./submit.ts";

/** Implements `tss.v1.Receipts`. */
export function createReceiptsService({
  database,
  coordination,
}: {
  readonly database: Database;
  readonly coordination: Pick<Coordination, "buckets">;
}): ServiceImpl<typeof Receipts> {
  const buckets = coordination.buckets("receipts", PER_PROJECT);
  return {
    async getSignReceipt({ signRequestId }, context) {
      const caller = callerOf(context, "project");
      const { network, projectId } = caller;
      const { isAllowed, waitMs } = await buckets.take(projectId);
      if (!isAllowed)
        throw new ServiceError("RATE_LIMITED", "too many receipts of this project", {
          retryAfterSeconds: waitMs / 1_000,
        });
      const row = await readShownSignRequest(database, { id: signRequestId, caller });
      if (row === undefined) throw signRequestNotFound(signRequestId);
      if (row.status !== "completed")
        throw new ServiceError("WRONG_STATE", "only a completed request has a receipt", {
          metadata: { status: row.status },
        });
      const proof = await getSubmissionProof(database, { network, projectId, signRequestId });
      const charge = await readSignCharge(database, { projectId, signRequestId });
      if (charge === undefined) throw new Error(`sign request ${signRequestId} was signed without a charge`);
      return {
        projectId,
        signRequest: encodeSignRequest(row),
        publicKey: await readPublicKey(database, signRequestId),
        charge: {
          ledgerEntryId: charge.key,
          priceMicroUsd: charge.priceMicroUsd,
          createTime: timestampFromDate(charge.createdAt),
        },
        ...encodeAuditProof(proof),
      };
    },
  };
}

/** A seal may have thousands of leaves, and a proof reads and hashes all of them. */
const PER_PROJECT = { burstCount: 50, perSecond: 5 };

async function readPublicKey(db: Queryable, signRequestId: string): Promise<Uint8Array> {
  const [dwallet] = await readRows(
    db,
    sql`SELECT d.public_key AS "publicKey" FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id
        WHERE r.id = ${signRequestId}`,
    { publicKey: bytea },
  );
  if (dwallet === undefined) throw new Error(`sign request ${signRequestId} has no dWallet`);
  return dwallet.publicKey;
}
