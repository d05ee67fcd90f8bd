import { AdjustCreditResponseSchema } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { formatChange, formatUsd } from "../format.ts";
import { required } from "../option.ts";
import { microUsd, text, uuid } from "../option-values.ts";
import { serviceCommand } from "../service-command.ts";
import { formatPairs } from "../table.ts";

const adjust = serviceCommand({
  caller: "operator",
  isDirect: true,
  isKeyed: true,
  summary: "give a project credit, or take it away down to what reservations hold",
  options: {
    project: required("<id>", "the project's id", uuid),
    amountUsd: required("<usd>", "how much, such as 12.50; negative takes away", microUsd),
    reason: required("<text>", "why; the project reads it in its ledger", text),
  },
  call: ({ admin }, { project: projectId, amountUsd: amountMicroUsd, reason }, once) =>
    admin.adjustCredit({ projectId, amountMicroUsd, reason }, once),
  reply: AdjustCreditResponseSchema,
  show: ({ ledgerEntry: entry }) =>
    formatPairs([
      ["entry", entry!.ledgerEntryId],
      ["amount", formatChange(entry!.amountMicroUsd)],
      ["balance", formatUsd(entry!.balanceMicroUsd)],
    ]),
});

/** `tss credit`. */
export const creditCommands = { adjust };
