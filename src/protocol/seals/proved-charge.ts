import type { AuditProofReply } from "./verify-proof.ts";

/** The charge of a signature. */
export interface ChargeClaim {
  readonly ledgerEntryId: string;
  /** In millionths of a US dollar. */
  readonly priceMicroUsd: bigint;
}

/**
 * Returns true if the audited event names a charge. A receipt without faults then proves its price and its ledger entry.
 * Older events name none, and the price and the ledger entry are then only what the service says.
 */
export function isChargeProved({ auditEvent: event }: Pick<AuditProofReply, "auditEvent">): boolean {
  return event !== undefined && event.ledgerEntryId !== "";
}

/**
 * Returns true unless the audited event names another charge than the receipt: another price or ledger entry, or the
 * ledger entry of another request. An older event names none, see {@link isChargeProved}.
 */
export function isChargeAudited({ signRequestId, charge, proof }: ChargedReceipt): boolean {
  const event = proof.auditEvent;
  if (event === undefined || !isChargeProved(proof)) return true;
  const { ledgerEntryId, amountMicroUsd = 0n } = event;
  return (
    ledgerEntryId === `sign:${signRequestId}` &&
    charge?.ledgerEntryId === ledgerEntryId &&
    charge.priceMicroUsd === -amountMicroUsd
  );
}

interface ChargedReceipt {
  /** A UUID in lower case. */
  readonly signRequestId: string;
  /** What the receipt says about the charge. */
  readonly charge?: ChargeClaim | undefined;
  readonly proof: Pick<AuditProofReply, "auditEvent">;
}
