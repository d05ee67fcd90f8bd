import {
  ConfirmCoinPriceResponseSchema,
  ListCoinPricesResponseSchema,
  WaitingPrice_BoundSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { GetPricingResponseSchema } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { SignatureAlgorithmSchema } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { formatDollars, formatPriceUsd } from "../../../protocol/price-table.ts";
import { nonEmptyText, operand, required } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatEnum, formatPairs, formatTable, formatTime } from "../../output/format.ts";

export const priceCommand = serviceCommand({
  caller: "project",
  isDirect: true,
  summary: "show the prices of signatures and dWallets",
  options: {},
  call: ({ billing }) => billing.getPricing({}),
  reply: GetPricingResponseSchema,
  show: (reply) =>
    [
      formatTable(
        [
          { title: "SIGNATURE", of: (one) => formatEnum(SignatureAlgorithmSchema, one.signatureAlgorithm) },
          { title: "PRICE", of: (one) => formatDollars(one.priceMicroUsd), align: "right" },
        ],
        reply.signPrices,
      ),
      formatPairs([
        ["message included", `${reply.includedMessageBytes} bytes`],
        ["each further KiB", formatDollars(reply.messageKibPriceMicroUsd)],
        ["dWallet", formatDollars(reply.dkgPriceMicroUsd)],
        ["share for another user", formatDollars(reply.sharePriceMicroUsd)],
        ["imported key", formatDollars(reply.importPriceMicroUsd)],
        ["held half, beside its signature", formatDollars(reply.holdPriceMicroUsd)],
      ]),
    ].join("\n\n"),
});

const OPERATOR = { caller: "operator", isDirect: true } as const;

const list = serviceCommand({
  ...OPERATOR,
  summary: "show the prices of coins from price sources, and those that wait",
  options: {},
  call: ({ admin }) => admin.listCoinPrices({}),
  reply: ListCoinPricesResponseSchema,
  show: ({ coinPrices }) =>
    formatTable(
      [
        { title: "PRICE", of: ({ priceUsd }) => formatPriceUsd(priceUsd), align: "right" },
        { title: "OF", of: ({ priceTime }) => formatTime(priceTime) },
        {
          title: "WAITING",
          of: ({ waiting }) => (waiting ? formatPriceUsd(waiting.priceUsd) : "-"),
          align: "right",
        },
        { title: "SINCE", of: ({ waiting }) => formatTime(waiting?.sinceTime, "-") },
        {
          title: "BEYOND",
          of: ({ waiting }) => (waiting ? formatEnum(WaitingPrice_BoundSchema, waiting.bound) : "-"),
        },
        { title: "TYPE", of: ({ coinType }) => coinType },
      ],
      coinPrices,
    ),
});

const confirm = serviceCommand({
  ...OPERATOR,
  summary: "accept the waiting price of a coin, after comparing it with another source",
  options: {
    coin: operand("<coin>", "the coin, such as SUI, or its full type", nonEmptyText),
    price: required("<usd>", "the price that you found elsewhere, in US dollars", nonEmptyText),
  },
  call: ({ admin }, { coin, price }) => admin.confirmCoinPrice({ coin, priceUsd: price }),
  reply: ConfirmCoinPriceResponseSchema,
  show: ({ coinPrice }) =>
    formatPairs([
      ["coin", coinPrice?.coinType],
      ["price", coinPrice && formatPriceUsd(coinPrice.priceUsd)],
      ["of", formatTime(coinPrice?.priceTime)],
    ]),
});

export const coinPriceCommands = { list, confirm };
