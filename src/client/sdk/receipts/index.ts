/** The package's entry `threshold-signing-service/receipts`, for programs that keep and check receipts of signatures. */
export type { AuditEvent } from "../../../../gen/client/tss/v1/admin_pb.ts";
export type { AuditSeal } from "../../../../gen/client/tss/v1/audit_pb.ts";
export type { GetSignReceiptResponse, SignCharge } from "../../../../gen/client/tss/v1/receipts_pb.ts";
export { type ChargeClaim, isChargeProved } from "../../../protocol/seals/proved-charge.ts";
export type { AuditProofReply } from "../../../protocol/seals/verify-proof.ts";
export type { SealTrust } from "../../../protocol/seals/verify-receipt.ts";
export { TssError, type TssErrorReason } from "../errors.ts";
export { createReceiptClient, type ReceiptClient, type ReceiptClientOptions } from "./receipt-client.ts";
export { receiptFromJson, receiptToJson } from "./receipt-json.ts";
export { type ReceiptFault, type ReceiptTrust, type SignReceipt, verifyReceipt } from "./verify-receipt.ts";
