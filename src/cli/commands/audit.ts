import { AuditEventSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { auditExport } from "../audit-export.ts";
import { auditVerify } from "../audit-verify.ts";
import { formatTime } from "../format.ts";
import { listCommand } from "../list-command.ts";
import { optional } from "../option.ts";
import { text, uuid } from "../option-values.ts";

const list = listCommand({
  caller: "operator",
  isDirect: true,
  summary: "list who changed what, the newest first",
  options: {
    project: optional("<id>", "what concerned this project alone", uuid),
    actor: optional("<actor>", "what this actor did alone, such as admin:alice, key:<id> or system", text),
  },
  async read({ admin }, { project, actor }, page) {
    const filter = { ...(project && { projectId: project }), ...(actor && { actor }) };
    const { auditEvents: rows, nextPageToken } = await admin.listAuditEvents({ ...filter, ...page });
    return { rows, nextPageToken };
  },
  row: AuditEventSchema,
  columns: [
    { title: "TIME", of: ({ createTime }) => formatTime(createTime) },
    { title: "ACTOR", of: ({ actor }) => actor },
    { title: "ACTION", of: ({ action }) => action },
    { title: "SUBJECT", of: ({ subject }) => subject },
    { title: "PROJECT", of: ({ projectId }) => projectId || "-" },
    { title: "ADDRESS", of: ({ address }) => address || "-" },
    { title: "REQUEST", of: ({ requestId }) => requestId || "-" },
  ],
});

/** `tss audit`. */
export const auditCommands = { list, export: auditExport, verify: auditVerify };
