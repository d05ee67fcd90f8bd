import type { ConfigReading } from "../service/config/config.ts";
import type { Setting } from "../service/config/variables/config-variable.ts";
import { printable } from "./output/printable.ts";

/** Formats the rows as a table. */
export function toText({ settings, warnings, faults }: ConfigReading): string {
  const rows = settings.map((setting) => [
    setting.name,
    shown(setting),
    sourceOf(setting),
    setting.description,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return [
    ...rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")),
    ...section("warnings", warnings),
    ...section("faults", faults),
  ].join("\n");
}

/** Formats the variables for scripts. */
export function toJson({ settings, warnings, faults }: ConfigReading): string {
  const variables = settings.map(({ value, ...setting }) => ({ ...setting, value: value ?? null }));
  return JSON.stringify({ variables, warnings, faults }, undefined, 2);
}

function shown({ value }: Setting): string {
  return value === undefined ? "(unset)" : printable(value) || "(empty)";
}

function sourceOf({ source, file }: Setting): string {
  switch (source) {
    case "file":
      return `from file ${file}`;
    case "unset":
      return "";
    default:
      return source;
  }
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", `${title}:`, ...lines.map((line) => `  - ${line}`)];
}
