import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { PricedOperation } from "./read-prices.ts";
import type { TreasuryReader } from "./treasury-reader.ts";

/**
 * Creates a function that returns whether the Treasury has a price ceiling for imported keys of a curve, as the chain
 * numbers it. Throws CHAIN_UNAVAILABLE if the fullnode does not answer.
 */
export function createImportCeilings(
  treasury: Pick<TreasuryReader, "ceilings">,
  clock: Pick<Clock, "now">,
): (curve: number) => Promise<boolean> {
  const has = createLookup(treasury, clock);
  return (curve) => has("import", curve, 0);
}

/**
 * Creates a function that returns whether the Treasury has the price ceilings for holding a half and for completing it,
 * by a curve and an algorithm, as the chain numbers them. Throws CHAIN_UNAVAILABLE if the fullnode does not answer.
 */
export function createHoldCeilings(
  treasury: Pick<TreasuryReader, "ceilings">,
  clock: Pick<Clock, "now">,
): (curve: number, signatureAlgorithm: number) => Promise<boolean> {
  const has = createLookup(treasury, clock);
  return async (curve, signatureAlgorithm) =>
    (await has("future_sign", curve, signatureAlgorithm)) &&
    (await has("partial_sign", curve, signatureAlgorithm));
}

/** All calls share one reading of the ceilings, which is remembered for ten seconds. */
function createLookup(treasury: Pick<TreasuryReader, "ceilings">, clock: Pick<Clock, "now">) {
  let known:
    | { readonly ceilings: ReturnType<TreasuryReader["ceilings"]>; readonly untilMs: number }
    | undefined;
  return async (operation: PricedOperation, curve: number, signatureAlgorithm: number): Promise<boolean> => {
    const ceilings = await read();
    return ceilings.some(
      (one) =>
        one.operation === operation && one.curve === curve && one.signatureAlgorithm === signatureAlgorithm,
    );
  };

  function read(): ReturnType<TreasuryReader["ceilings"]> {
    if (known !== undefined && known.untilMs > clock.now()) return known.ceilings;
    const ceilings = treasury.ceilings();
    known = { ceilings, untilMs: clock.now() + REMEMBERED_MS };
    ceilings.catch(() => {
      known = undefined;
    });
    return ceilings;
  }
}

const REMEMBERED_MS = 10_000;
