import { fromJsonString } from "@bufbuild/protobuf";
import {
  type GetAuditProofResponse,
  GetAuditProofResponseSchema,
} from "../../../../gen/client/tss/v1/admin_pb.ts";

/**
 * Reads the proof of an event from protobuf's JSON: the output of `tss audit proof --json`, or the body of the REST
 * call. Checks only its form: `verifyReceipt` checks the rest. Unknown fields, which a newer service may add, are
 * ignored.
 *
 * @throws {Error} when the text is not such JSON.
 *
 * @example
 * const proof = auditProofFromJson(await readFile("proof.json", "utf8"));
 */
export function auditProofFromJson(text: string): GetAuditProofResponse {
  return fromJsonString(GetAuditProofResponseSchema, text, { ignoreUnknownFields: true });
}
