import type { DescEnum } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { networkTraits } from "../../protocol/chain/network-traits.ts";
import { formatDollars, formatUnits } from "../../protocol/price-table.ts";

/**
 * Formats a whole number with grouped digits. Returns an empty text for a fraction, such as a tick between two counts.
 */
export function formatCount(count: number | bigint): string {
  return typeof count === "bigint" || Number.isInteger(count) ? count.toLocaleString("en") : "";
}

/** Returns the contract's name of an enum value, or its number if this console does not know it. */
export function enumName(schema: DescEnum, value: number): string {
  return schema.value[value]?.name ?? `${value}`;
}

/** Formats bytes as lower-case hex digits. */
export function formatHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Shortens an id to its start and end: `0x1234…cdef`. */
export function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, id.startsWith("0x") ? 8 : 6)}…${id.slice(-6)}`;
}

/** Returns the URL of a transaction, an object or an account in an explorer; undefined on a network without one. */
export function explorerUrl(
  network: string,
  kind: "tx" | "object" | "account",
  id: string,
): string | undefined {
  const { explorerUrl: base } = networkTraits(network);
  return base && `${base}/${kind}/${encodeURIComponent(id)}`;
}

/** Formats a duration in its two greatest units: `412 ms`, `1.2 s`, `3 min 5 s`, `2 d 4 h`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${secondsText(durationMs / 1_000)} s`;
  const seconds = Math.round(durationMs / 1_000);
  const at = UNITS.findIndex(([size]) => seconds >= size);
  const [size, name] = UNITS[at]!;
  const [smallerSize, smallerName] = UNITS[at + 1]!;
  const rest = Math.floor((seconds % size) / smallerSize);
  return `${Math.floor(seconds / size)} ${name}${rest > 0 ? ` ${rest} ${smallerName}` : ""}`;
}

/** Formats a number of days, rounded down: with one decimal below ten, and none above a year. */
export function formatDays(days: number): string {
  if (days > 365) return "more than a year";
  const shown = days < 10 ? Math.floor(days * 10) / 10 : Math.floor(days);
  const text = shown.toLocaleString("en");
  return `${text} ${text === "1" ? "day" : "days"}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Formats seconds with one decimal below ten seconds, unless it is zero. */
function secondsText(seconds: number): string {
  return seconds < 10 ? seconds.toFixed(1).replace(/\.0$/, "") : seconds.toFixed(0);
}

/** Formats micro-USD as dollars with two to six decimals: `$1,234.50`, `−$0.0123`. */
export function formatMoney(amountMicroUsd: bigint): string {
  return formatDollars(amountMicroUsd, "−");
}

/** Formats a change of money with its sign. */
export function formatMoneyChange(amountMicroUsd: bigint): string {
  return `${amountMicroUsd > 0n ? "+" : ""}${formatMoney(amountMicroUsd)}`;
}

/**
 * Formats an amount of 10^-9 SUI or IKA with at most four decimals, rounded down: `1,234.5 SUI`. `< 0.0001 SUI` stands
 * for less than that.
 */
export function formatCoin(amount: bigint, symbol: "SUI" | "IKA"): string {
  return `${shortUnits(amount, 9)} ${symbol}`;
}

/** Formats an amount in smallest units of a coin with at most four decimals, as {@link formatCoin} does. */
export function shortUnits(amount: bigint, decimals: number): string {
  const size = amount < 0n ? -amount : amount;
  const sign = amount < 0n ? "−" : "";
  const step = 10n ** BigInt(Math.max(0, decimals - COIN_DECIMALS));
  if (size > 0n && size < step) return `${sign === "" ? "<" : ">"} ${sign}0.0001`;
  return `${sign}${formatUnits(size - (size % step), decimals, 0)}`;
}

const COIN_DECIMALS = 4;

/** Returns an amount of smallest units as a plain decimal number without grouped digits: `-1234.5`. */
export function plainUnits(amount: bigint, decimals: number): string {
  const size = formatUnits(amount < 0n ? -amount : amount, decimals, 0).replaceAll(",", "");
  return amount < 0n ? `-${size}` : size;
}

/** Returns micro-USD as a plain number of dollars: `-0.01`. */
export function plainMoney(amountMicroUsd: bigint): string {
  return plainUnits(amountMicroUsd, 6);
}

/** Returns a time in ISO 8601; empty if there is none. */
export function plainTime(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}

/**
 * Says how long ago a time was, or how far ahead it is, in its greatest unit: `3 min ago`, `in 2 d`. Undefined for a time
 * more than 30 days away, which a date tells better.
 */
export function relativeTime(atMs: number, nowMs: number): string | undefined {
  const apartMs = Math.abs(nowMs - atMs);
  if (apartMs < 1_000) return "now";
  const seconds = Math.floor(apartMs / 1_000);
  if (seconds > 30 * 86_400) return undefined;
  const [size, name] = UNITS.find(([each]) => seconds >= each)!;
  const text = `${Math.floor(seconds / size)} ${name}`;
  return atMs <= nowMs ? `${text} ago` : `in ${text}`;
}

/** Parses dollars as people write them, such as `-12.5`, into micro-USD. Undefined for an invalid amount. */
export function parseMoney(text: string): bigint | undefined {
  const match = /^([-−]?)\$?(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text.trim().replaceAll(",", ""));
  if (match === null) return undefined;
  const [, sign, whole = "", part = ""] = match;
  const size = BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, "0"));
  return sign === "" ? size : -size;
}
