import { ChainOperation_KindSchema } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import {
  GetLanesResponseSchema,
  GetOutboxResponseSchema,
  GetReadinessResponse_StatusSchema,
  GetReadinessResponseSchema,
  OutboxEntry_StateSchema,
} from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatEnum, formatPairs, formatTable, formatTime } from "../../output/format.ts";

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

export const lanesCommand = serviceCommand({
  caller: "operator",
  isDirect: false,
  summary: "show the lanes with their leases and transactions, also without the fullnode",
  options: {},
  call: ({ operations }) => operations.getLanes({}),
  reply: GetLanesResponseSchema,
  show: ({ lanes }) =>
    formatTable(
      [
        { title: "LANE", of: ({ operatorCapId }) => operatorCapId },
        { title: "CONFIGURED", of: ({ configured }) => (configured ? "yes" : "NO") },
        { title: "LEASED UNTIL", of: ({ leaseEndTime }) => formatTime(leaseEndTime, "-") },
        { title: "COINS", of: ({ gasCoinCount }) => String(gasCoinCount), align: "right" },
        { title: "UNRESOLVED", of: ({ unresolved }) => unresolved?.txDigest ?? "-" },
        { title: "SINCE", of: ({ unresolved }) => formatTime(unresolved?.createTime, "-") },
        { title: "LAST OUTCOME", of: ({ lastResolved }) => formatTime(lastResolved?.resolveTime, "-") },
        { title: "FOREIGN", of: ({ foreignTxDigest }) => foreignTxDigest ?? "-" },
      ],
      lanes,
    ),
});

export const outboxCommand = serviceCommand({
  caller: "operator",
  isDirect: false,
  summary: "count the operations that are not on the chain yet",
  options: {},
  call: ({ operations }) => operations.getOutbox({}),
  reply: GetOutboxResponseSchema,
  show: ({ entries }) =>
    entries.length === 0
      ? "every operation is on the chain"
      : formatTable(
          [
            { title: "KIND", of: ({ kind }) => formatEnum(ChainOperation_KindSchema, kind) },
            { title: "STATE", of: ({ state }) => formatEnum(OutboxEntry_StateSchema, state) },
            { title: "COUNT", of: ({ count }) => String(count), align: "right" },
            { title: "OLDEST", of: ({ oldestCreateTime }) => formatTime(oldestCreateTime) },
          ],
          entries,
        ),
});
