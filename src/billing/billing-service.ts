import type { ServiceImpl } from "@connectrpc/connect";
import type { Billing } from "../../gen/proto/tss/v1/billing_pb.ts";
import { callerOf } from "../access/caller.ts";
import type { Database } from "../store/database.ts";
import { encodeLedgerEntry } from "./encode-ledger-entry.ts";
import { listLedgerEntries } from "./list-ledger-entries.ts";

/** What the Billing service needs. */
export interface BillingServiceDeps {
  readonly database: Pick<Database, "prisma" | "query">;
  readonly priceSignMicroUsd: bigint;
}

/** Implements `tss.v1.Billing`. */
export function createBillingService(deps: BillingServiceDeps): ServiceImpl<typeof Billing> {
  const { database, priceSignMicroUsd } = deps;
  return {
    async getBalance(_request, context) {
      const { projectId } = callerOf(context, "project");
      return database.prisma.project.findUniqueOrThrow({
        where: { id: projectId },
        select: { balanceMicroUsd: true, heldMicroUsd: true },
      });
    },
    async getPricing() {
      return { signPriceMicroUsd: priceSignMicroUsd };
    },
    async listLedgerEntries(request, context) {
      const { projectId } = callerOf(context, "project");
      const { rows, nextPageToken } = await listLedgerEntries(database, projectId, request);
      return { ledgerEntries: rows.map(encodeLedgerEntry), nextPageToken };
    },
  };
}
