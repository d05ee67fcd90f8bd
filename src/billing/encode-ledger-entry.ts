import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type LedgerEntry, LedgerEntry_Kind, LedgerEntrySchema } from "../../gen/proto/tss/v1/billing_pb.ts";
import type { LedgerEntryRow } from "./list-ledger-entries.ts";

/** Encodes a ledger entry. */
export function encodeLedgerEntry(row: LedgerEntryRow): LedgerEntry {
  const { key, kind, amountMicroUsd, balanceMicroUsd, createdAt, description, dwalletId, depositReference } =
    row;
  const isOfRequest = kind === "sign" || kind === "refund";
  return create(LedgerEntrySchema, {
    ledgerEntryId: key,
    createTime: timestampFromDate(createdAt),
    kind: kindEnum(kind),
    amountMicroUsd,
    balanceMicroUsd,
    description,
    // The key of such an entry is `<kind>:<id of the request>`.
    ...(isOfRequest && { signRequestId: key.slice(kind.length + 1) }),
    ...(dwalletId && { dwalletId }),
    ...(depositReference && { depositReference }),
  });
}

function kindEnum(kind: string): LedgerEntry_Kind {
  const value = Object.entries(LedgerEntry_Kind).find(([name]) => name === kind)?.[1];
  if (value === undefined) throw new Error(`the ledger has an entry of the kind ${kind}`);
  return value;
}
