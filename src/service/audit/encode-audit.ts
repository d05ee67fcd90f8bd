import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type AuditEvent, AuditEventSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { type AuditSeal as AuditSealMessage, AuditSealSchema } from "../../../gen/proto/tss/v1/audit_pb.ts";
import type { AuditSeal } from "../../protocol/seals/audit-seal.ts";
import type { AuditEventRow, AuditProof } from "./list-audit-events.ts";

/** Encodes an event of the audit trail. */
export function encodeAuditEvent(row: AuditEventRow): AuditEvent {
  const { id, createdAt, projectId, requestId, address, sequence, ledgerEntryId, amountMicroUsd, ...shown } =
    row;
  return create(AuditEventSchema, {
    auditEventId: id,
    createTime: timestampFromDate(createdAt),
    projectId: projectId ?? "",
    requestId: requestId ?? "",
    address: address ?? "",
    ...(sequence !== null && { sequence }),
    ...(ledgerEntryId !== null && amountMicroUsd !== null && { ledgerEntryId, amountMicroUsd }),
    ...shown,
  });
}

/** Encodes a seal. */
export function encodeAuditSeal({ createdAt, publicKey, signature, ...shown }: AuditSeal): AuditSealMessage {
  return create(AuditSealSchema, {
    createTime: timestampFromDate(createdAt),
    publicKey: publicKey ?? new Uint8Array(),
    signature: signature ?? new Uint8Array(),
    ...shown,
  });
}

/** Encodes the parts of a proof, for the messages that contain one. */
export function encodeAuditProof({ event, seal, path }: AuditProof): EncodedProof {
  return { auditEvent: encodeAuditEvent(event), auditSeal: encodeAuditSeal(seal), auditPath: [...path] };
}

interface EncodedProof {
  readonly auditEvent: AuditEvent;
  readonly auditSeal: AuditSealMessage;
  readonly auditPath: Uint8Array[];
}
