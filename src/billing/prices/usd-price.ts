/** Prices are integers of a millionth of a millionth of a US dollar, as cheap coins cost far less than a cent. */
export const FRACTION_DIGITS = 12;
/** A million US dollars. */
const MAX_PICO_USD = 10n ** BigInt(FRACTION_DIGITS + 6);

/**
 * Reads a price in US dollars, such as `3.5` or `0.000012`, exactly, into pico-USD. Undefined for anything that is not a
 * plain decimal number above zero, with at most twelve digits behind the point, and at most a million.
 */
export function parseUsdPrice(text: string): bigint | undefined {
  const [, whole, fraction = ""] = /^(\d{1,7})(?:\.(\d{1,12}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const picoUsd = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, "0"));
  return isUsdPrice(picoUsd) ? picoUsd : undefined;
}

/** Whether a price is above zero and at most a million US dollars. */
export function isUsdPrice(picoUsd: bigint): boolean {
  return picoUsd > 0n && picoUsd <= MAX_PICO_USD;
}

/** Sorts amounts, the smallest first. */
export function compareAmounts(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}

/** The price in US dollars as a plain decimal number, without zeros at its end. */
export function formatUsdPrice(picoUsd: bigint): string {
  const digits = picoUsd.toString().padStart(FRACTION_DIGITS + 1, "0");
  const fraction = digits.slice(-FRACTION_DIGITS).replace(/0+$/, "");
  return digits.slice(0, -FRACTION_DIGITS) + (fraction && `.${fraction}`);
}
