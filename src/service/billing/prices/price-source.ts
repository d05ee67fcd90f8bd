import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { AcceptedCoin } from "../deposits/accepted-coins.ts";

/** A source of prices. */
export interface PriceSource {
  /** Returns the price of a normalised coin type. Undefined without a fresh price; nothing may be credited then. */
  priceOf(coinType: string): CoinPrice | undefined;
  /** Reads new prices. Absent if they never change. */
  refresh?(signal: AbortSignal): Promise<void>;
}

/** The value of one whole coin. */
export interface CoinPrice {
  readonly picoUsd: bigint;
  readonly time: Date;
}

/** Creates a source of fixed prices, by the configured names of the coins. Their time is always the current one. */
export function fixedPrices(
  coins: readonly AcceptedCoin[],
  picoUsdByName: ReadonlyMap<string, bigint>,
  clock: Pick<Clock, "wallMs">,
): PriceSource {
  return {
    priceOf(coinType) {
      const coin = coins.find((accepted) => accepted.coinType === coinType);
      const picoUsd = coin && picoUsdByName.get(coin.name);
      return picoUsd === undefined ? undefined : { picoUsd, time: new Date(clock.wallMs()) };
    },
  };
}

/**
 * Converts a price in US dollars, such as `3.5` or `0.000012`, exactly to pico-USD. Undefined for anything but a plain
 * decimal number above zero, with at most twelve decimals, and at most a million.
 */
export function parseUsdPrice(text: string): bigint | undefined {
  const [, whole, fraction = ""] = /^(\d{1,7})(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const picoUsd = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, "0"));
  return isUsdPrice(picoUsd) ? picoUsd : undefined;
}

/** Prices are integers of pico-USD (10^-12 US dollars), because cheap coins cost far less than a cent. */
export const FRACTION_DIGITS = 12;
/** A million US dollars. */
const MAX_PICO_USD = 10n ** BigInt(FRACTION_DIGITS + 6);

/** Returns true if a price is above zero and at most a million US dollars. */
export function isUsdPrice(picoUsd: bigint): boolean {
  return picoUsd > 0n && picoUsd <= MAX_PICO_USD;
}

/** Formats a price in US dollars as a plain decimal number without trailing zeros. */
export function formatUsdPrice(picoUsd: bigint): string {
  const digits = picoUsd.toString().padStart(FRACTION_DIGITS + 1, "0");
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, "");
  return digits.slice(0, -FRACTION_DIGITS) + (fraction && `.${fraction}`);
}
