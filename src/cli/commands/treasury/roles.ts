import { UsageError } from "../../command-line/command.ts";
import { choiceOf, operand, optional } from "../../command-line/option.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";
import { fullAddress } from "../../treasury/change-options.ts";
import type { PlannedChange } from "../../treasury/run-treasury-change.ts";

const NOBODY = `0x${"0".repeat(64)}`;
const STEPS = ["offer", "accept", "withdraw", "recover"] as const;

export const setRolesCommand = changeCommand({
  summary: "set who may pause the Treasury, and who may replace a lost AdminCap",
  details: "Omitted roles stay unchanged.",
  options: {
    pauser: optional("<address>", "may pause, and nothing else; `nobody` removes the role", roleHolder),
    recovery: optional(
      "<address>",
      "may replace a lost AdminCap, after 7 epochs; `nobody` removes the role",
      roleHolder,
    ),
  },
  plan({ pauser, recovery }, { treasury }) {
    if (pauser === undefined && recovery === undefined)
      throw new UsageError("--pauser or --recovery is missing");
    return oneCall("set_roles", {
      pauser: pauser ?? treasury.pauser ?? NOBODY,
      recovery: recovery ?? treasury.recovery ?? NOBODY,
    });
  },
});

export const rotateAdminCommand = changeCommand({
  summary: "hand the administration over: offer, accept or withdraw it, or recover it",
  details:
    "offer: the administrator offers it to --to. accept: that address takes it; the previous AdminCap becomes invalid.\n" +
    "withdraw: the administrator withdraws an offer, including one of the recovery holder.\n" +
    "recover: the recovery holder offers it to --to, who can accept after 7 epochs.",
  options: {
    step: operand("<step>", STEPS.join(", "), choiceOf(STEPS)),
    to: optional("<address>", "with offer and recover: the new administrator", fullAddress),
  },
  plan({ step, to }): PlannedChange {
    const takesAddress = step === "offer" || step === "recover";
    if (takesAddress && to === undefined) throw new UsageError("--to is missing");
    if (!takesAddress && to !== undefined) throw new UsageError(`${step} takes no --to`);
    switch (step) {
      case "offer":
        return oneCall(
          "offer_admin",
          { to: to ?? "" },
          "The new administrator runs `tss treasury rotate-admin accept`.",
        );
      case "withdraw":
        return oneCall("withdraw_admin_offer", {});
      case "accept":
        return { caller: "offered", add: (call) => call("accept_admin", {}) };
      case "recover":
        return {
          caller: "recovery",
          add: (call) => call("recover_admin", { to: to ?? "" }),
          next: () => ["After 7 epochs the new administrator runs `tss treasury rotate-admin accept`."],
        };
    }
  },
});

function roleHolder(text: string): string {
  return text === "nobody" ? NOBODY : fullAddress(text);
}
