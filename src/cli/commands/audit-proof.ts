import { bytesToHex } from "@noble/hashes/utils.js";
import { GetAuditProofResponseSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { isProved } from "../../seals/verify-proof.ts";
import { formatTime } from "../format.ts";
import { operand } from "../option.ts";
import { rowNumber } from "../option-values.ts";
import { serviceCommand } from "../service-command.ts";
import { formatPairs } from "../table.ts";

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
