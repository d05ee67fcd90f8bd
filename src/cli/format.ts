import type { DescEnum } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { formatDollars } from "../protocol/money.ts";

/** Formats a change of money with its sign. */
export function formatChange(amountMicroUsd: bigint): string {
  return `${amountMicroUsd > 0n ? "+" : ""}${formatDollars(amountMicroUsd)}`;
}

/** Formats a time as `2026-11-21T17:06:44Z`, or returns `otherwise` if there is none. */
export function formatTime(time: Timestamp | undefined, otherwise = ""): string {
  return time === undefined
    ? otherwise
    : timestampDate(time)
        .toISOString()
        .replace(/\.\d+Z$/, "Z");
}

/** Returns the contract's name of an enum value, or its number if this version does not know it. */
export function formatEnum(schema: DescEnum, value: number): string {
  return schema.value[value]?.name ?? String(value);
}

const DECIMALS = 9;

/** Formats units of 10^-9 SUI or IKA as `1.250000000 SUI`. */
export function formatCoins(amount: bigint, name: "SUI" | "IKA"): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(DECIMALS + 1, "0");
  return `${amount < 0n ? "-" : ""}${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)} ${name}`;
}
