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

/** Compares amounts, to sort the smallest first. */
export function compareAmounts(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}

/** Formats a price in US dollars as a plain decimal number without trailing zeros. */
export function formatUsdPrice(picoUsd: bigint): string {
  const digits = picoUsd.toString().padStart(FRACTION_DIGITS + 1, "0");
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, "");
  return digits.slice(0, -FRACTION_DIGITS) + (fraction && `.${fraction}`);
}
