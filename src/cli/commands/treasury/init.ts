import { readPrices } from "../../../service/chain/treasury/read-prices.ts";
import { UsageError } from "../../command-line/command.ts";
import { count, defaulted, optional, required } from "../../command-line/option.ts";
import { changeCommand } from "../../treasury/change-command.ts";
import { coins, fullAddress } from "../../treasury/change-options.ts";
import { configurationLines } from "../../treasury/open-treasury.ts";
import {
  describeLimits,
  formatCeilings,
  proposeCeilings,
  proposeLimits,
  shareOf,
} from "../../treasury/price-ceilings.ts";
import { describeEpoch, readEpoch } from "../../treasury/treasury-status.ts";
import { MARGIN_OPTION, setCeiling } from "./set-ceiling.ts";

export const initCommand = changeCommand({
  summary: "set up a new Treasury in one transaction: ceilings, operators, roles, and a deposit",
  details:
    "Ceilings are Ika's current prices plus a margin. Each operator may do twice its even share of the operations\n" +
    "that you expect in an epoch, and spend their cost at the ceilings.",
  options: {
    holder: required("<address>", "the hot wallet, which holds the OperatorCaps", fullAddress),
    operators: defaulted("<count>", "OperatorCaps, one for each lane", count(1, 32), "4"),
    expires: defaulted("<epochs>", "the number of epochs from now until they expire", count(1, 3_650), "90"),
    signs: defaulted("<count>", "signatures that you expect in an epoch", count(1, 100_000_000), "5000"),
    dkgs: defaulted("<count>", "new dWallets that you expect in an epoch", count(1, 100_000_000), "500"),
    margin: MARGIN_OPTION,
    pauser: optional("<address>", "may pause the Treasury, and nothing else", fullAddress),
    recovery: optional("<address>", "may replace a lost AdminCap, after 7 epochs", fullAddress),
    ika: defaulted("<ika>", "also deposit this much IKA of the sender", coins, "0"),
    sui: defaulted("<sui>", "also deposit this much SUI of the sender", coins, "0"),
  },
  async plan(values, treasury, { print, note }) {
    const { operators, ...roles } = treasury.treasury;
    if (operators.length > 0)
      throw new Error(
        "the Treasury already has operators: use mint-operator, set-ceiling, set-roles and fund one by one",
      );
    const { ika, sui, holder } = values;
    const { prices } = await readPrices(
      treasury.client,
      treasury.ikaConfig.objects.ikaDWalletCoordinator.objectID,
    );
    const ceilings = proposeCeilings(prices, values.margin);
    if (ceilings.length === 0) throw new Error("Ika has no prices to propose ceilings from");
    const limits = proposeLimits(ceilings, shareOf(values, values.operators));
    const now = await readEpoch(treasury);
    const expiresEpoch = now.epoch + BigInt(values.expires);
    print(formatCeilings(ceilings));
    print(
      `\n${values.operators} OperatorCaps for ${holder}, which expire after ${describeEpoch(expiresEpoch, now)}.`,
    );
    print(`In one epoch each may spend ${describeLimits(limits)}.\n`);
    if (values.recovery === undefined)
      note(
        "warning: without --recovery nobody can replace a lost AdminCap; `tss treasury set-roles` sets it later",
      );
    const { pauser = roles.pauser, recovery = roles.recovery } = values;
    return {
      caller: "admin",
      async add(call, tx, sender) {
        for (const ceiling of ceilings) call(...setCeiling(ceiling));
        for (let made = 0; made < values.operators; made++)
          call("new_operator", { holder, expiresEpoch, ...limits });
        if (pauser !== undefined || recovery !== undefined)
          call("set_roles", { pauser: pauser ?? NOBODY, recovery: recovery ?? NOBODY });
        if (ika === 0n && sui === 0n) return;
        const { depositCoins } = await import("../../treasury/deposit-coins.ts");
        await depositCoins(treasury, { ika, sui }, { call, tx, sender });
      },
      next({ created }) {
        const caps = created.filter(({ type }) => type.endsWith("::OperatorCap")).map(({ id }) => id);
        const { name, packageId, treasuryId } = treasury;
        return [
          ...configurationLines(name, { packageId, treasuryId, operatorCapIds: caps.join(",") }),
          ...(ika === 0n || sui === 0n ? ["\nNext, `tss treasury fund` puts IKA and SUI into it."] : []),
          `\n\`tss doctor --network ${treasury.name}\` checks the result.`,
        ];
      },
    };
  },
});

const NOBODY = `0x${"0".repeat(64)}`;

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
