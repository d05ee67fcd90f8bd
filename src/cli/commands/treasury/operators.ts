import { readPriceCeilings } from "../../../service/chain/treasury/read-treasury-object.ts";
import type { OperatorAmounts } from "../../../service/chain/treasury/treasury-state.ts";
import {
  count,
  defaulted,
  objectId,
  operand,
  optional,
  required,
  type Values,
} from "../../command-line/option.ts";
import { changeCommand, oneCall } from "../../treasury/change-command.ts";
import { coins, fullAddress } from "../../treasury/change-options.ts";
import type { OpenTreasury } from "../../treasury/open-treasury.ts";
import { describeLimits, proposeLimits, shareOf } from "../../treasury/price-ceilings.ts";
import { describeEpoch, readEpoch } from "../../treasury/treasury-status.ts";

const MOST = 1_000_000_000;
const LIMITS = {
  ika: optional("<ika>", "the IKA that it may spend in an epoch", coins),
  sui: optional("<sui>", "the SUI that it may spend in an epoch", coins),
  dkgs: optional("<count>", "the DKGs that it may pay in an epoch", count(0, MOST)),
  presigns: optional("<count>", "the presigns that it may pay in an epoch", count(0, MOST)),
  signs: optional("<count>", "the signatures that it may pay in an epoch", count(0, MOST)),
};
const EXPIRES = {
  expires: defaulted("<epochs>", "the number of epochs from now, each about a day", count(1, 3_650), "90"),
};
/** The default limits of one operator in an epoch. */
const ONE_SHARE = shareOf({ dkgs: 500, signs: 5_000 }, 1);

export const mintOperatorCommand = changeCommand({
  summary: "create an OperatorCap for one lane of the hot wallet, with an expiry and limits",
  details: "Omitted limits are proposed: coins for all its operations at the price ceilings.",
  options: { holder: required("<address>", "the hot wallet", fullAddress), ...EXPIRES, ...LIMITS },
  async plan(values, treasury, { print }) {
    const { expiresEpoch, shown } = await expiryOf(treasury, values.expires);
    const limits = await limitsOf(treasury, values, ONE_SHARE);
    print(`The OperatorCap expires after ${shown}.\nIn one epoch it may spend ${describeLimits(limits)}.\n`);
    return {
      caller: "admin",
      add: (call) => call("new_operator", { holder: values.holder, expiresEpoch, ...limits }),
      next: ({ created }) => [
        `\nAdd the new OperatorCap to the service's configuration, and restart the workers one after another:`,
        `SERVICECORE_${treasury.name.toUpperCase()}_OPERATOR_CAP_IDS=...,${created.find(({ type }) => type.endsWith("::OperatorCap"))?.id}`,
      ],
    };
  },
});

export const renewOperatorCommand = changeCommand({
  summary: "give an OperatorCap a later expiry, and other limits",
  details: "Omitted limits stay unchanged. Its spending in this epoch still counts.",
  options: { operator: operand("<cap-id>", "the OperatorCap", objectId), ...EXPIRES, ...LIMITS },
  async plan({ operator: operatorCap, expires, ...values }, treasury, { print }) {
    const known = treasury.treasury.operators.find(({ capId }) => capId === operatorCap);
    if (known === undefined) throw new Error(`the Treasury has no OperatorCap ${operatorCap}`);
    const { expiresEpoch, shown } = await expiryOf(treasury, expires);
    const limits = mergeLimits(values, known.limits);
    print(`The OperatorCap expires after ${shown}, currently after epoch ${known.expiresEpoch}.`);
    print(
      `In one epoch it may spend ${describeLimits(limits)};\ncurrently ${describeLimits(known.limits)}.\n`,
    );
    return oneCall("renew_operator", { operatorCap, expiresEpoch, ...limits });
  },
});

export const revokeOperatorCommand = changeCommand({
  summary: "revoke an OperatorCap: it can spend nothing more, and queued operations of its lane wait",
  options: { operator: operand("<cap-id>", "the OperatorCap", objectId) },
  plan: ({ operator: operatorCap }) =>
    oneCall("revoke_operator", { operatorCap }, "Remove the OperatorCap from the service's configuration."),
});

async function expiryOf(treasury: OpenTreasury, epochs: number) {
  const now = await readEpoch(treasury);
  const expiresEpoch = now.epoch + BigInt(epochs);
  return { expiresEpoch, shown: describeEpoch(expiresEpoch, now) };
}

type LimitValues = Pick<Values<typeof LIMITS>, keyof typeof LIMITS>;

/** Returns the given limits. Omitted limits of coins suffice for the operations at the price ceilings. */
async function limitsOf(
  treasury: OpenTreasury,
  values: LimitValues,
  share: Pick<OperatorAmounts, "dkgs" | "presigns" | "signs">,
): Promise<OperatorAmounts> {
  const ceilings = await readPriceCeilings(treasury.client, treasury.treasury);
  const counts = mergeLimits(values, { ...share, ika: 0n, sui: 0n });
  const proposed = proposeLimits(ceilings, counts);
  return mergeLimits(values, proposed);
}

function mergeLimits(
  { ika, sui, dkgs, presigns, signs }: LimitValues,
  otherwise: OperatorAmounts,
): OperatorAmounts {
  return {
    ika: ika ?? otherwise.ika,
    sui: sui ?? otherwise.sui,
    dkgs: dkgs === undefined ? otherwise.dkgs : BigInt(dkgs),
    presigns: presigns === undefined ? otherwise.presigns : BigInt(presigns),
    signs: signs === undefined ? otherwise.signs : BigInt(signs),
  };
}
