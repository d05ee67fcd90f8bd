import {
  DeclareDepositResponseSchema,
  type Deposit,
  Deposit_State,
  Deposit_StateSchema,
  DepositSchema,
  GetDepositAddressResponseSchema,
} from "../../../gen/proto/tss/v1/billing_pb.ts";
import { formatEnum, formatTime, formatUsd } from "../format.ts";
import { listCommand } from "../list-command.ts";
import { operand, optional } from "../option.ts";
import { enumValue, nonEmptyText } from "../option-values.ts";
import { serviceCommand } from "../service-command.ts";
import { formatPairs, formatTable, type TableColumn } from "../table.ts";

const PROJECT = { caller: "project", isDirect: false } as const;
const COLUMNS: readonly TableColumn<Deposit>[] = [
  { title: "FOUND", of: ({ createTime }) => formatTime(createTime) },
  { title: "STATE", of: ({ state }) => formatEnum(Deposit_StateSchema, state) },
  { title: "AMOUNT", of: ({ amount }) => amount, align: "right" },
  { title: "COIN", of: ({ coinType }) => coinType },
  {
    title: "CREDITED",
    of: ({ credit }) => (credit ? formatUsd(credit.valueMicroUsd) : "-"),
    align: "right",
  },
  { title: "TRANSACTION", of: ({ txDigest }) => txDigest },
];

const address = serviceCommand({
  ...PROJECT,
  summary: "show a project's deposit address, and the coins and prices it accepts",
  options: {},
  call: ({ billing }) => billing.getDepositAddress({}),
  reply: GetDepositAddressResponseSchema,
  show: (reply) =>
    [
      formatPairs([
        ["address", reply.address],
        ["network", reply.network],
        ["minimum", formatUsd(reply.minimumDepositMicroUsd)],
        ["waiting", formatUsd(reply.waitingMicroUsd)],
      ]),
      formatTable(
        [
          { title: "COIN", of: ({ symbol }) => symbol },
          { title: "PRICE", of: ({ priceUsd }) => (priceUsd === undefined ? "none" : `$${priceUsd}`) },
          { title: "OF", of: ({ priceTime }) => formatTime(priceTime, "-") },
          { title: "TYPE", of: ({ coinType }) => coinType },
        ],
        reply.coins,
      ),
    ].join("\n\n"),
});

const declare = serviceCommand({
  ...PROJECT,
  summary: "check a deposit now instead of waiting for the next scan",
  options: { transaction: operand("<digest>", "the digest of the transaction that paid", nonEmptyText) },
  call: ({ billing }, { transaction: txDigest }) => billing.declareDeposit({ txDigest }),
  reply: DeclareDepositResponseSchema,
  show: ({ deposits }) => formatTable(COLUMNS, deposits),
});

const list = listCommand({
  ...PROJECT,
  summary: "list a project's deposits, newest first",
  options: {
    state: optional("<state>", "show only waiting or only credited deposits", enumValue(Deposit_State)),
  },
  async read({ billing }, { state }, page) {
    const { deposits: rows, nextPageToken } = await billing.listDeposits({
      ...(state && { state }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: DepositSchema,
  columns: COLUMNS,
});

/** `tss deposit`. */
export const depositCommands = { address, declare, list };
