import { GetPricingResponseSchema } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { SignatureAlgorithmSchema } from "../../../gen/proto/tss/v1/types_pb.ts";
import { formatDollars } from "../../protocol/money.ts";
import { formatEnum } from "../format.ts";
import { serviceCommand } from "../service-command.ts";
import { formatPairs, formatTable } from "../table.ts";

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
      ]),
    ].join("\n\n"),
});
