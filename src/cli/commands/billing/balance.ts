import {
  GetBalanceResponseSchema,
  SetLowBalanceResponseSchema,
} from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { formatDollars } from "../../../protocol/price-table.ts";
import { positiveMicroUsd, required, WrongValue } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatPairs } from "../../output/format.ts";

const PROJECT = { caller: "project", isDirect: false } as const;

const show = serviceCommand({
  ...PROJECT,
  summary: "show a project's balance, what its open reservations hold, and when it is warned",
  options: {},
  call: ({ billing }) => billing.getBalance({}),
  reply: GetBalanceResponseSchema,
  show: ({ balanceMicroUsd, heldMicroUsd, lowBalanceMicroUsd }) =>
    formatPairs([
      ["balance", formatDollars(balanceMicroUsd)],
      ["held", formatDollars(heldMicroUsd)],
      ["warning", lowBalanceMicroUsd === undefined ? "none" : `below ${formatDollars(lowBalanceMicroUsd)}`],
    ]),
});

const warn = serviceCommand({
  ...PROJECT,
  summary: "set the balance below which the project gets the event balance.low",
  options: {
    below: required("<usd>", "the balance, such as 12.50; none for no event", (text) =>
      text === "none" ? undefined : thresholdOf(text),
    ),
  },
  call: ({ billing }, { below }) =>
    billing.setLowBalance(below === undefined ? {} : { lowBalanceMicroUsd: below }),
  reply: SetLowBalanceResponseSchema,
  show: () => "the warning is set",
});

function thresholdOf(text: string): bigint {
  const amount = positiveMicroUsd(text);
  if (amount === 0n) throw new WrongValue("takes an amount above zero, or none");
  return amount;
}

export const balanceCommands = { show, warn };
