import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AuditEvent,
  type GetAuditProofResponse,
  GetAuditProofResponseSchema,
} from "../../../gen/proto/tss/v1/admin_pb.ts";
import { leafHash } from "../../audit/audit-entry.ts";
import { isOwnHash } from "../../audit/check-seal.ts";
import { rootOfPath } from "../../audit/merkle-tree.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { formatTime } from "../format.ts";
import { operand } from "../option.ts";
import { rowNumber } from "../option-values.ts";
import { serviceCommand } from "../service-command.ts";
import { formatPairs } from "../table.ts";

/** `tss audit proof`. */
export const auditProof = serviceCommand({
  caller: "operator",
  isDirect: true,
  summary: "show an event and verify the proof that a seal covers it",
  options: { event: operand("<number>", "the event's number in `tss audit list`", rowNumber) },
  async call({ admin }, { event }) {
    const reply = await admin.getAuditProof({ auditEventId: event });
    if (!isProved(reply)) throw new Error("the proof is invalid: its hashes do not lead to its seal");
    return reply;
  },
  reply: GetAuditProofResponseSchema,
  show: ({ auditEvent: event, auditSeal: seal }) =>
    [
      formatPairs([
        ["time", formatTime(event?.createTime)],
        ["actor", event?.actor],
        ["action", event?.action],
        ["subject", event?.subject],
        ["project", event?.projectId],
        ["address", event?.address],
        ["request", event?.requestId],
        ["entry", event?.sequence?.toString()],
        ["seal", seal?.number.toString()],
        ["seal hash", seal && bytesToHex(seal.sealHash)],
      ]),
      "",
      "The seal covers this event. Compare its hash with the one that you recorded elsewhere.",
    ].join("\n"),
});

function isProved({ auditEvent: event, auditSeal: seal, auditPath }: GetAuditProofResponse): boolean {
  if (event?.sequence === undefined || event.createTime === undefined) return false;
  if (seal?.createTime === undefined || !isOwnHash({ ...seal, createdAt: timestampDate(seal.createTime) }))
    return false;
  const position = {
    index: Number(event.sequence - seal.firstSequence),
    leafCount: Number(seal.lastSequence - seal.firstSequence) + 1,
  };
  const root = rootOfPath(
    leafOf(event, { sequence: event.sequence, time: event.createTime }),
    position,
    auditPath,
  );
  return root !== undefined && equalBytes(root, seal.merkleRoot);
}

function leafOf(
  { auditEventId, actor, action, subject, projectId, requestId, address }: AuditEvent,
  { sequence, time }: { readonly sequence: bigint; readonly time: Timestamp },
): Uint8Array {
  return leafHash({
    ...{ sequence, auditEventId, createdAt: timestampDate(time), actor, action, subject },
    // The contract has no null, so absent values are empty.
    projectId: projectId || null,
    requestId: requestId || null,
    address: address || null,
  });
}
