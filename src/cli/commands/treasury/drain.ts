import { UsageError } from "../../command.ts";
import { defaulted, required } from "../../option.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";
import { coins, fullAddress } from "../../treasury/change-options.ts";

export const drainCommand = changeCommand({
  summary: "take IKA and SUI out of the Treasury",
  options: {
    to: required("<address>", "who receives the coins", fullAddress),
    ika: defaulted("<ika>", "how much IKA", coins, "0"),
    sui: defaulted("<sui>", "how much SUI", coins, "0"),
  },
  plan({ to, ika, sui }) {
    if (ika === 0n && sui === 0n) throw new UsageError("--ika or --sui is missing");
    return oneCall("drain", { ika, sui, to });
  },
});
