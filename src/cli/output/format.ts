import type { DescEnum } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { formatDollars } from "../../protocol/price-table.ts";
import { printable } from "./printable.ts";

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

export interface TableColumn<Row> {
  readonly title: string;
  readonly of: (row: Row) => string;
  /** Default: left. */
  readonly align?: "right";
}

/** Formats rows under their titles, in columns as wide as their content. */
export function formatTable<Row>(columns: readonly TableColumn<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ of }) => printable(of(row)))),
  ];
  return align(
    lines,
    columns.map((column) => column.align),
  );
}

/** Formats names beside values. Leaves out entries without a value. */
export function formatPairs(pairs: readonly (readonly [name: string, value: string | undefined])[]): string {
  const known = pairs.flatMap(([name, value]) => (value ? [[name, printable(value)]] : []));
  return align(known, []);
}

function align(lines: readonly (readonly string[])[], alignment: readonly ("right" | undefined)[]): string {
  const widths = (lines[0] ?? []).map((_, at) =>
    lines.reduce((width, line) => Math.max(width, widthOf(line[at] ?? "")), 0),
  );
  return lines
    .map((line) =>
      line
        .map((cell, at) => {
          const gap = " ".repeat((widths[at] ?? 0) - widthOf(cell));
          return alignment[at] === "right" ? gap + cell : cell + gap;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The width in characters. An emoji counts as one. */
function widthOf(text: string): number {
  return [...text].length;
}
