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

/** Replaces terminal control characters and right-to-left marks, because names come from callers. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\u{fffd}");
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
