import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Billing,
  type LedgerEntry,
  LedgerEntry_Kind,
  LedgerEntrySchema,
} from "../../gen/proto/tss/v1/billing_pb.ts";
import { callerOf } from "../access/caller.ts";
import type { Database } from "../store/database.ts";
import { type LedgerEntryRow, listLedgerEntries } from "./list-ledger-entries.ts";

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
      return { ledgerEntries: rows.map(encodeEntry), nextPageToken };
    },
  };
}

function encodeEntry({ key, kind, amountMicroUsd, balanceMicroUsd, createdAt }: LedgerEntryRow): LedgerEntry {
  const isOfRequest = kind === "sign" || kind === "refund";
  return create(LedgerEntrySchema, {
    ledgerEntryId: key,
    createTime: timestampFromDate(createdAt),
    kind: kindEnum(kind),
    amountMicroUsd,
    balanceMicroUsd,
    // The key of such an entry is its kind and the request's id.
    ...(isOfRequest && { signRequestId: key.slice(kind.length + 1) }),
  });
}

function kindEnum(kind: string): LedgerEntry_Kind {
  const value = Object.entries(LedgerEntry_Kind).find(([name]) => name === kind)?.[1];
  if (value === undefined) throw new Error(`the ledger has an entry of the kind ${kind}`);
  return value;
}
