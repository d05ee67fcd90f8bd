import { CURVES, curveNumber } from "../../../protocol/algorithms.ts";
import { UsageError } from "../../command.ts";
import { optional } from "../../option.ts";
import { choiceOf, objectId } from "../../option-values.ts";
import { changeCommand } from "../../treasury/change-command.ts";
import { fullAddress } from "../../treasury/change-options.ts";
import { findSent, readSent } from "../../treasury/sent-capabilities.ts";

export const takeInCommand = changeCommand({
  summary: "claim capabilities that another Treasury has sent to this one",
  details:
    "With --from, the curve and the owner of each dWallet come from the events of that Treasury.\n" +
    "With --capability, you specify them: both are public, in the events of the Treasury that held the dWallet before.",
  options: {
    from: optional("<treasury-id>", "take in the next batch that this Treasury has moved here", objectId),
    capability: optional("<id>", "take in this one capability", objectId),
    curve: optional("<curve>", "with --capability of a dWallet: its curve", choiceOf(CURVES)),
    owner: optional("<address>", "with --capability of a dWallet: the user's address", fullAddress),
  },
  async plan({ from, capability, curve, owner }, treasury, { print }) {
    if ((from === undefined) === (capability === undefined))
      throw new UsageError("either --from or --capability is needed");
    const terms = curve && owner ? { curve: curveNumber(curve), owner } : undefined;
    const sent =
      capability === undefined
        ? await findSent(treasury, from ?? "")
        : [await readSent(treasury, capability, terms)];
    if (sent.length === 0) throw new Error("no capability that was sent to this Treasury is left to take in");
    print(`${sent.length} capabilities\n`);
    return {
      caller: "admin",
      add(call) {
        for (const { ref, dwallet } of sent)
          if (dwallet === undefined) call("take_in_presign", { capability: ref });
          else call("take_in_dwallet", { capability: ref, ...dwallet });
      },
    };
  },
});
