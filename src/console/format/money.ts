import { formatDollars, formatUnits } from "../../protocol/money.ts";

/** Formats micro-USD as dollars with two to six decimals: `$1,234.50`, `−$0.0123`. */
export function formatMoney(amountMicroUsd: bigint): string {
  return formatDollars(amountMicroUsd, "−");
}

/** Formats a change of money with its sign. */
export function formatMoneyChange(amountMicroUsd: bigint): string {
  return `${amountMicroUsd > 0n ? "+" : ""}${formatMoney(amountMicroUsd)}`;
}

/** Formats an amount of 10^-9 SUI or IKA: `1,234.5 SUI`. */
export function formatCoin(amount: bigint, symbol: "SUI" | "IKA"): string {
  return `${amount < 0n ? "−" : ""}${formatUnits(amount < 0n ? -amount : amount, 9, 0)} ${symbol}`;
}

/** Parses dollars as people write them, such as `-12.5`, into micro-USD. Undefined for an invalid amount. */
export function parseMoney(text: string): bigint | undefined {
  const match = /^([-−]?)\$?(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text.trim().replaceAll(",", ""));
  if (match === null) return undefined;
  const [, sign, whole = "", part = ""] = match;
  const size = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, "0"));
  return sign === "" ? size : -size;
}
