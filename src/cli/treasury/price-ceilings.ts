import { CURVE_ALGORITHMS } from "../../protocol/algorithms.ts";
import {
  hasAlgorithm,
  type OperationPrice,
  type PricedOperation,
} from "../../service/chain/treasury/read-prices.ts";
import type { OperatorAmounts } from "../../service/chain/treasury/treasury-state.ts";
import { formatCoins, formatTable } from "../output/format.ts";
import { nameOperation } from "./parameter-kinds.ts";

/** Proposes a ceiling for every operation that the service uses: its price plus a margin in percent. */
export function proposeCeilings(prices: readonly OperationPrice[], marginPercent: number): ProposedCeiling[] {
  return prices.filter(isServed).map((price) => ({
    ...price,
    ika: withMargin(price.ika, marginPercent),
    sui: withMargin(price.sui, marginPercent),
    price,
  }));
}

/** A price ceiling with the current price. */
interface ProposedCeiling extends OperationPrice {
  /** Undefined if the network has no price for it. */
  readonly price: OperationPrice | undefined;
}

/** Finds the entry of the same operation, curve and algorithm. */
export function findOperation<T extends OperationPrice>(
  entries: readonly T[],
  wanted: Pick<OperationPrice, "operation" | "curve" | "signatureAlgorithm">,
): T | undefined {
  return entries.find(
    ({ operation, curve, signatureAlgorithm }) =>
      operation === wanted.operation &&
      curve === wanted.curve &&
      signatureAlgorithm === wanted.signatureAlgorithm,
  );
}

/** Returns true if the service uses an operation. */
export function isServed({ operation, curve, signatureAlgorithm }: OperationPrice): boolean {
  const ofCurve = CURVE_ALGORITHMS.filter(({ curveNumber }) => curveNumber === curve);
  if (!hasAlgorithm(operation)) return ofCurve.length > 0;
  return ofCurve.some(({ signatureAlgorithmNumber }) => signatureAlgorithmNumber === signatureAlgorithm);
}

/** Returns true if a ceiling permits its operation at this price. */
export function suffices(ceiling: OperationPrice, price: OperationPrice): boolean {
  return ceiling.ika >= price.ika && ceiling.sui >= price.sui;
}

/** Formats ceilings beside the current prices. */
export function formatCeilings(ceilings: readonly ProposedCeiling[]): string {
  return formatTable<ProposedCeiling>(
    [
      { title: "OPERATION", of: nameOperation },
      {
        title: "IKA PRICE",
        of: ({ price }) => (price ? formatCoins(price.ika, "IKA") : "none"),
        align: "right",
      },
      { title: "IKA CEILING", of: ({ ika }) => formatCoins(ika, "IKA"), align: "right" },
      {
        title: "SUI PRICE",
        of: ({ price }) => (price ? formatCoins(price.sui, "SUI") : "none"),
        align: "right",
      },
      { title: "SUI CEILING", of: ({ sui }) => formatCoins(sui, "SUI"), align: "right" },
      { title: "", of: (ceiling) => (ceiling.price && !suffices(ceiling, ceiling.price) ? "TOO LOW" : "") },
    ],
    ceilings,
  );
}

/** Rounds up, so that even a small price gets a margin. */
function withMargin(amount: bigint, marginPercent: number): bigint {
  return (amount * BigInt(100 + marginPercent) + 99n) / 100n;
}

/**
 * Proposes an operator's limits per epoch: the numbers of operations, and coins for all of them at the ceiling of the
 * most expensive curve. A share and an import count as DKGs, a half that is
 * kept for later, and its signature, as signatures.
 */
export function proposeLimits(
  ceilings: readonly OperationPrice[],
  counts: Pick<OperatorAmounts, "dkgs" | "presigns" | "signs">,
): OperatorAmounts {
  const cost = (coin: "ika" | "sui") =>
    counts.dkgs *
      dearest((["dkg", "share", "import"] as const).map((name) => highest(ceilings, name, coin))) +
    counts.presigns * highest(ceilings, "presign", coin) +
    counts.signs *
      dearest(
        (["sign", "future_sign", "partial_sign"] as const).map((name) => highest(ceilings, name, coin)),
      );
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

function dearest(prices: readonly bigint[]): bigint {
  let most = 0n;
  for (const price of prices) if (price > most) most = price;
  return most;
}

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
