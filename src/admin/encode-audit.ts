import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type GetAuditProofResponse, GetAuditProofResponseSchema } from "../../gen/proto/tss/v1/admin_pb.ts";
import { type AuditSeal as AuditSealMessage, AuditSealSchema } from "../../gen/proto/tss/v1/audit_pb.ts";
import type { AuditProof } from "../audit/get-audit-proof.ts";
import type { AuditSeal } from "../seals/audit-seal.ts";
import { encodeAuditEvent } from "./encode-account.ts";

/** Encodes a seal. */
export function encodeAuditSeal({ createdAt, publicKey, signature, ...shown }: AuditSeal): AuditSealMessage {
  return create(AuditSealSchema, {
    createTime: timestampFromDate(createdAt),
    publicKey: publicKey ?? new Uint8Array(),
    signature: signature ?? new Uint8Array(),
    ...shown,
  });
}

/** Encodes a proof. */
export function encodeAuditProof({ event, seal, path }: AuditProof): GetAuditProofResponse {
  return create(GetAuditProofResponseSchema, {
    auditEvent: encodeAuditEvent(event),
    auditSeal: encodeAuditSeal(seal),
    auditPath: [...path],
  });
}
