import {
  GetReadinessResponse_StatusSchema,
  GetReadinessResponseSchema,
} from "../../../gen/proto/tss/v1/operations_pb.ts";
import { formatEnum, formatTime } from "../format.ts";
import { serviceCommand } from "../service-command.ts";
import { formatPairs, formatTable } from "../table.ts";

export const statusCommand = serviceCommand({
  caller: "operator",
  isDirect: false,
  summary: "show whether the service is ready, with the reason of each failing check",
  options: {},
  call: ({ operations }) => operations.getReadiness({}),
  reply: GetReadinessResponseSchema,
  show: ({ status, checks, version, commit, processType, startTime }) =>
    [
      formatPairs([
        ["status", formatEnum(GetReadinessResponse_StatusSchema, status)],
        ["version", version],
        ["commit", commit],
        ["process", processType],
        ["started", formatTime(startTime)],
      ]),
      formatTable(
        [
          { title: "CHECK", of: ({ name }) => name },
          { title: "OK", of: ({ ok }) => (ok ? "yes" : "NO") },
          { title: "REASON", of: ({ reason }) => reason || "-" },
        ],
        checks,
      ),
    ].join("\n\n"),
});
