import { UsageError } from "../../command.ts";
import { operand, optional, required } from "../../option.ts";
import { objectId } from "../../option-values.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";
import { fullAddress } from "../../treasury/change-options.ts";

export const announceReleaseCommand = changeCommand({
  summary: "announce that a dWallet's capability goes to an address after 14 epochs",
  options: {
    dwallet: operand("<dwallet-id>", "the dWallet", objectId),
    to: required("<address>", "the recipient of the capability", fullAddress),
  },
  plan: ({ dwallet, to: recipient }) =>
    oneCall(
      "announce_release",
      { dwallet, recipient },
      "After 14 epochs, and for 14 more, `tss treasury release` sends it, unless its owner forbids it. Monitors see the announcement.",
    ),
});

export const withdrawReleaseCommand = changeCommand({
  summary: "withdraw the announced release of a dWallet's capability",
  options: { dwallet: operand("<dwallet-id>", "the dWallet", objectId) },
  plan: ({ dwallet }) => oneCall("withdraw_release", { dwallet }),
});

export const releaseCommand = changeCommand({
  summary: "send a dWallet's capability to the announced recipient, or a presign's to an address",
  options: {
    dwallet: optional("<id>", "the dWallet, announced 14 to 27 epochs ago", objectId),
    presign: optional("<id>", "a presign, such as one that the network has rejected", objectId),
    to: optional("<address>", "with --presign: who receives the capability", fullAddress),
  },
  plan({ dwallet, presign, to: recipient }) {
    if ((dwallet === undefined) === (presign === undefined))
      throw new UsageError("either --dwallet or --presign is needed");
    if (dwallet !== undefined) {
      if (recipient !== undefined)
        throw new UsageError("--dwallet takes no --to: the recipient is announced");
      return oneCall("release_dwallet", { dwallet });
    }
    if (recipient === undefined) throw new UsageError("--to is missing");
    return oneCall("release_presign", { presign: presign ?? "", recipient });
  },
});
