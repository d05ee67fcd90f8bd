import { AdjustCreditResponseSchema } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { formatDollars } from "../../../protocol/price-table.ts";
import { microUsd, nonEmptyText, required, uuid } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatChange, formatPairs } from "../../output/format.ts";

const adjust = serviceCommand({
  caller: "operator",
  isDirect: true,
  isKeyed: true,
  summary: "add credit to a project, or remove credit that no reservation holds",
  options: {
    project: required("<id>", "the project's id", uuid),
    amountUsd: required("<usd>", "the amount, such as 12.50; a negative amount removes credit", microUsd),
    reason: required("<text>", "the reason; the project sees it in its ledger", nonEmptyText),
  },
  call: ({ admin }, { project: projectId, amountUsd: amountMicroUsd, reason }, once) =>
    admin.adjustCredit({ projectId, amountMicroUsd, reason }, once),
  reply: AdjustCreditResponseSchema,
  show: ({ ledgerEntry: entry }) =>
    formatPairs([
      ["entry", entry!.ledgerEntryId],
      ["amount", formatChange(entry!.amountMicroUsd)],
      ["balance", formatDollars(entry!.balanceMicroUsd)],
    ]),
});

export const creditCommands = { adjust };
