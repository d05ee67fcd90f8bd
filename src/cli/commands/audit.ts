import { bytesToHex } from "@noble/hashes/utils.js";
import { AuditEventSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { AuditSealSchema } from "../../../gen/proto/tss/v1/audit_pb.ts";
import { auditExport } from "../audit-export.ts";
import { auditVerify } from "../audit-verify.ts";
import { formatTime } from "../format.ts";
import { listCommand } from "../list-command.ts";
import { optional } from "../option.ts";
import { nonEmptyText, uuid } from "../option-values.ts";
import { auditProof } from "./audit-proof.ts";

const list = listCommand({
  caller: "operator",
  isDirect: true,
  summary: "list audit events, newest first",
  options: {
    project: optional("<id>", "show only events of this project", uuid),
    actor: optional(
      "<actor>",
      "show only events by this actor, such as admin:alice, key:<id> or system",
      nonEmptyText,
    ),
  },
  async read({ admin }, { project, actor }, page) {
    const filter = { ...(project && { projectId: project }), ...(actor && { actor }) };
    const { auditEvents: rows, nextPageToken } = await admin.listAuditEvents({ ...filter, ...page });
    return { rows, nextPageToken };
  },
  row: AuditEventSchema,
  columns: [
    { title: "EVENT", of: ({ auditEventId }) => String(auditEventId), align: "right" },
    { title: "TIME", of: ({ createTime }) => formatTime(createTime) },
    { title: "ACTOR", of: ({ actor }) => actor },
    { title: "ACTION", of: ({ action }) => action },
    { title: "SUBJECT", of: ({ subject }) => subject },
    { title: "PROJECT", of: ({ projectId }) => projectId || "-" },
    { title: "ADDRESS", of: ({ address }) => address || "-" },
    { title: "REQUEST", of: ({ requestId }) => requestId || "-" },
  ],
});

const seals = listCommand({
  caller: "operator",
  isDirect: true,
  summary: "list the seals of the audit trail, newest first",
  options: {},
  async read({ admin }, _values, page) {
    const { auditSeals: rows, nextPageToken } = await admin.listAuditSeals(page);
    return { rows, nextPageToken };
  },
  row: AuditSealSchema,
  columns: [
    { title: "SEAL", of: ({ number }) => String(number), align: "right" },
    { title: "TIME", of: ({ createTime }) => formatTime(createTime) },
    {
      title: "ENTRIES",
      of: ({ firstSequence, lastSequence }) => `${firstSequence} to ${lastSequence}`,
    },
    { title: "SIGNED BY", of: ({ publicKey }) => (publicKey.length > 0 ? bytesToHex(publicKey) : "-") },
    { title: "HASH", of: ({ sealHash }) => bytesToHex(sealHash) },
  ],
});

export const auditCommands = { list, seals, proof: auditProof, export: auditExport, verify: auditVerify };
