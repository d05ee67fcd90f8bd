import { UsageError } from "../../command.ts";
import { defaulted } from "../../option.ts";
import { changeCommand } from "../../treasury/change-command.ts";
import { coins } from "../../treasury/change-options.ts";

export const fundCommand = changeCommand({
  summary: "deposit IKA and SUI of the sender into the Treasury; anyone can",
  options: {
    ika: defaulted("<ika>", "how much IKA", coins, "0"),
    sui: defaulted("<sui>", "how much SUI, in addition to the gas", coins, "0"),
  },
  plan({ ika, sui }, treasury) {
    if (ika === 0n && sui === 0n) throw new UsageError("--ika or --sui is missing");
    return {
      caller: "anyone",
      async add(call, tx, sender) {
        const { depositCoins } = await import("../../treasury/deposit-coins.ts");
        await depositCoins(treasury, { ika, sui }, { call, tx, sender });
      },
      next: () => ["`tss treasury status` shows the new balances."],
    };
  },
});
