/**
 * Returns a table as CSV with a line of titles. By default in the form of RFC 4180; in a locale with a decimal comma,
 * spreadsheets separate cells by semicolons and read numbers with a comma. A text that a spreadsheet would run as a
 * formula begins with an apostrophe, and so does what another separator would cut off as a formula.
 */
export function csvText(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  form: CsvForm = COMMAS,
): string {
  return [titles, ...rows]
    .map((cells) => `${cells.map((cell) => csvCell(cell, form)).join(form.separator)}\r\n`)
    .join("");
}

/** How the spreadsheets of a locale read a CSV. */
export interface CsvForm {
  readonly separator: "," | ";";
  readonly decimal: "." | ",";
}

/** Returns the form that spreadsheets in a locale read; the browser's by default. */
export function csvFormOf(locale?: string): CsvForm {
  const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
  return parts.find(({ type }) => type === "decimal")?.value === "," ? SEMICOLONS : COMMAS;
}

const COMMAS: CsvForm = { separator: ",", decimal: "." };
const SEMICOLONS: CsvForm = { separator: ";", decimal: "," };

function csvCell(text: string, { separator, decimal }: CsvForm): string {
  if (NUMBER.test(text)) return text.replace(".", decimal);
  const safe = text.replaceAll(
    CUT_FORMULAS[separator],
    (_, before: string, sign: string) => `${before}'${sign}`,
  );
  return quoted(FORMULA.test(text) ? `'${safe}` : safe);
}

function quoted(text: string): string {
  return /[",;\t\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What spreadsheets take for the beginning of a formula, also after spaces and control characters. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;
/**
 * The same after the other separator or the end of a line: there, a spreadsheet that expects the other separator begins
 * a cell, whatever is quoted.
 */
const CUT_FORMULAS = {
  ",": /([;\r\n]["\s\p{Cc}\p{Cf}]*)([=+\-@＝＋－＠])/gu,
  ";": /([,\r\n]["\s\p{Cc}\p{Cf}]*)([=+\-@＝＋－＠])/gu,
} as const;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
