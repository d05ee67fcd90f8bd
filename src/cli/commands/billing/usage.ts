import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  GetUsageRequest_Step,
  GetUsageResponseSchema,
  type Usage,
} from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { formatDollars } from "../../../protocol/price-table.ts";
import { choiceOf, defaulted, optional, pastTime, userReference } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatTable, formatTime } from "../../output/format.ts";

export const usageCommand = serviceCommand({
  caller: "project",
  isDirect: true,
  summary: "add up what a project or a user used and paid, by day or by hour (UTC)",
  options: {
    user: optional("<reference>", "only the signatures and dWallets of this user", userReference),
    by: defaulted("<step>", "day or hour", choiceOf(["day", "hour"] as const), "day"),
    from: optional("<time>", "the beginning; default 30 days ago, or a day ago by hour", pastTime),
    to: optional("<time>", "the end; default now", pastTime),
  },
  call: ({ billing }, { user, by, from, to }) =>
    billing.getUsage({
      step: GetUsageRequest_Step[by],
      ...(user !== undefined && { userReference: user }),
      ...(from && { startTime: timestampFromDate(from) }),
      ...(to && { endTime: timestampFromDate(to) }),
    }),
  reply: GetUsageResponseSchema,
  show: ({ steps, total }) =>
    formatTable(
      [
        { title: "FROM", of: ({ from }) => from },
        ...COUNTS.map(([title, name]) => ({
          title,
          of: ({ usage }: Row) => String(usage?.[name] ?? 0n),
          align: "right" as const,
        })),
        { title: "CHARGED", of: ({ usage }) => formatDollars(usage?.chargedMicroUsd ?? 0n), align: "right" },
        {
          title: "DEPOSITED",
          of: ({ usage }) => formatDollars(usage?.depositedMicroUsd ?? 0n),
          align: "right",
        },
      ],
      [
        ...steps.map(({ startTime, usage }): Row => ({ from: formatTime(startTime), usage })),
        { from: "total", usage: total },
      ],
    ),
});

interface Row {
  readonly from: string;
  readonly usage: Usage | undefined;
}

const COUNTS = [
  ["SIGNATURES", "signCount"],
  ["REFUNDED", "signRefundCount"],
  ["DWALLETS", "dwalletCount"],
  ["DWALLETS REFUNDED", "dwalletRefundCount"],
  ["SHARES", "shareCount"],
  ["SHARES REFUNDED", "shareRefundCount"],
] as const;
