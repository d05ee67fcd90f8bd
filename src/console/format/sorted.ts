/** Returns rows in the order of their texts, numbers by their size. Rows without a text come last in both directions. */
export function sortedRows<Row>(
  rows: readonly Row[],
  { textOf, isNumber, isDescending }: RowOrder<Row>,
): Row[] {
  const direction = isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [textOf(one), textOf(other)];
    if (a === "" || b === "") return Number(a === "") - Number(b === "");
    return direction * (isNumber ? Number(a) - Number(b) : TEXTS.compare(a, b));
  });
}

interface RowOrder<Row> {
  /** A plain text: a number without grouped digits, a time in ISO 8601; empty if the row has none. */
  textOf(row: Row): string;
  readonly isNumber: boolean;
  readonly isDescending: boolean;
}

const TEXTS = new Intl.Collator("en", { numeric: true });
