import type { OperationPrice, PricedOperation } from "../../chain/treasury/read-prices.ts";
import type { OperatorAmounts } from "../../chain/treasury/treasury-state.ts";
import { formatCoins } from "../format.ts";

/**
 * Proposes an operator's limits per epoch: the numbers of operations, and coins for all of them at the ceiling of the
 * most expensive curve.
 */
export function proposeLimits(
  ceilings: readonly OperationPrice[],
  counts: Pick<OperatorAmounts, "dkgs" | "presigns" | "signs">,
): OperatorAmounts {
  const cost = (coin: "ika" | "sui") =>
    counts.dkgs * highest(ceilings, "dkg", coin) +
    counts.presigns * highest(ceilings, "presign", coin) +
    counts.signs * highest(ceilings, "sign", coin);
  return { ...counts, ika: cost("ika"), sui: cost("sui") };
}

/**
 * Splits the operations that a service expects in an epoch among its operators. Each may do twice its even share,
 * because lanes do not take even shares, and presigns are also made in advance.
 */
export function shareOf(
  expected: { readonly dkgs: number; readonly signs: number },
  operatorCount: number,
): Pick<OperatorAmounts, "dkgs" | "presigns" | "signs"> {
  const share = (count: number) => BigInt(Math.ceil((2 * count) / operatorCount));
  return {
    dkgs: share(expected.dkgs),
    signs: share(expected.signs),
    presigns: share(expected.signs) + IN_ADVANCE,
  };
}

/** Describes limits in one line. */
export function describeLimits({ ika, sui, dkgs, presigns, signs }: OperatorAmounts): string {
  return `${formatCoins(ika, "IKA")}, ${formatCoins(sui, "SUI")}, ${dkgs} DKGs, ${presigns} presigns, ${signs} signatures`;
}

/** Additional presigns per operator, for the pool. */
const IN_ADVANCE = 500n;

function highest(
  ceilings: readonly OperationPrice[],
  operation: PricedOperation,
  coin: "ika" | "sui",
): bigint {
  let most = 0n;
  for (const ceiling of ceilings)
    if (ceiling.operation === operation && ceiling[coin] > most) most = ceiling[coin];
  return most;
}
