import {
  DeclareDepositResponseSchema,
  type Deposit,
  Deposit_State,
  Deposit_StateSchema,
  DepositAddressSchema,
  DepositSchema,
  GetDepositAddressResponseSchema,
} from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { formatDollars, formatPriceUsd } from "../../../protocol/price-table.ts";
import { enumValue, nonEmptyText, operand, optional } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatEnum, formatPairs, formatTable, formatTime, type TableColumn } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

const PROJECT = { caller: "project", isDirect: false } as const;
const COLUMNS: readonly TableColumn<Deposit>[] = [
  { title: "FOUND", of: ({ createTime }) => formatTime(createTime) },
  { title: "STATE", of: ({ state }) => formatEnum(Deposit_StateSchema, state) },
  { title: "AMOUNT", of: ({ amount }) => amount, align: "right" },
  { title: "COIN", of: ({ coinType }) => coinType },
  {
    title: "CREDITED",
    of: ({ credit }) => (credit ? formatDollars(credit.valueMicroUsd) : "-"),
    align: "right",
  },
  { title: "REFERENCE", of: ({ reference }) => reference ?? "-" },
  { title: "TRANSACTION", of: ({ txDigest }) => txDigest },
];

const address = serviceCommand({
  ...PROJECT,
  summary: "show a deposit address of a project, and the coins and prices it accepts",
  options: {
    reference: optional("<text>", "the address for this reference, such as a user's id", nonEmptyText),
  },
  call: ({ billing }, { reference }) =>
    billing.getDepositAddress(reference === undefined ? {} : { reference }),
  reply: GetDepositAddressResponseSchema,
  show: (reply) =>
    [
      formatPairs([
        ["address", reply.address],
        ...(reply.reference === undefined ? [] : ([["reference", reply.reference]] as const)),
        ["network", reply.network],
        ["minimum", formatDollars(reply.minimumDepositMicroUsd)],
        ["waiting", formatDollars(reply.waitingMicroUsd)],
      ]),
      formatTable(
        [
          { title: "COIN", of: ({ symbol }) => symbol },
          {
            title: "PRICE",
            of: ({ priceUsd }) => (priceUsd === undefined ? "none" : formatPriceUsd(priceUsd)),
          },
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
    reference: optional("<text>", "show only deposits to the address of this reference", nonEmptyText),
  },
  async read({ billing }, { state, reference }, page) {
    const { deposits: rows, nextPageToken } = await billing.listDeposits({
      ...(state && { state }),
      ...(reference !== undefined && { reference }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: DepositSchema,
  columns: COLUMNS,
});

const addresses = listCommand({
  ...PROJECT,
  summary: "list a project's deposit addresses with a reference, and what was paid to each",
  options: {
    prefix: optional("<text>", "show only references that begin with this text", nonEmptyText),
  },
  async read({ billing }, { prefix }, page) {
    const { depositAddresses: rows, nextPageToken } = await billing.listDepositAddresses({
      ...(prefix !== undefined && { referencePrefix: prefix }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: DepositAddressSchema,
  columns: [
    { title: "REFERENCE", of: ({ reference }) => reference },
    { title: "ADDRESS", of: ({ address }) => address },
    { title: "CREDITED", of: ({ creditedMicroUsd }) => formatDollars(creditedMicroUsd), align: "right" },
    { title: "DEPOSITS", of: ({ creditedCount }) => String(creditedCount), align: "right" },
    { title: "WAITING", of: ({ waitingCount }) => String(waitingCount), align: "right" },
  ],
});

export const depositCommands = { address, addresses, declare, list };
