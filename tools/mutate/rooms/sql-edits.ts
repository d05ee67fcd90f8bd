/** An edit of an SQL template: the new text, and what it replaced by what. */
export interface SqlEdit {
  readonly text: string;
  readonly start: number;
  readonly original: string;
  readonly replacement: string;
}

/** Returns the text of a template whose value number i stands as `§i§`. */
export function markValues(strings: readonly string[]): string {
  return strings.reduce((text, next, index) => `${text}§${index - 1}§${next}`);
}

/** Reverses {@link markValues}: the strings, and the numbers of the values between them. */
export function splitValues(text: string): { readonly strings: string[]; readonly values: number[] } {
  const parts = text.split(/§(\d+)§/);
  return {
    strings: parts.filter((_, index) => index % 2 === 0),
    values: parts.filter((_, index) => index % 2 === 1).map(Number),
  };
}

/**
 * Returns the mutants of an SQL template, which the instrumenter sees as one string: a condition that always holds, a
 * bound moved by one, an assignment, a lock, an order or a limit left out, a sum turned into a difference.
 */
export function editSql(text: string): SqlEdit[] {
  const masked = maskQuoted(text);
  return [...dropConditions(masked), ...dropAssignments(masked), ...replaceWords(masked)]
    .map(({ start, end, replacement }) => ({
      text: text.slice(0, start) + replacement + text.slice(end),
      start,
      original: text.slice(start, end),
      replacement,
    }))
    .filter((edit) => edit.text !== text);
}

interface Cut {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** Hides strings in quotes, so that a word in them is no keyword. Keeps all positions. */
function maskQuoted(text: string): string {
  return text.replace(/'[^']*'|"[^"]*"/g, (quoted) => quoted[0] + "_".repeat(quoted.length - 2) + quoted[0]);
}

const WORDS: readonly (readonly [RegExp, (found: string) => string])[] = [
  [/\bFOR (?:NO KEY )?(?:UPDATE|SHARE)(?: OF \w+)?(?: SKIP LOCKED)?/g, () => ""],
  [/ SKIP LOCKED\b/g, () => ""],
  [
    /(?<![<>=!-])(?:<=|>=|<|>)(?![<>=@])/g,
    (found) => (found.endsWith("=") ? found.slice(0, -1) : `${found}=`),
  ],
  [/ [+-] /g, (found) => (found === " + " ? " - " : " + ")],
  [/\bgreatest\b/gi, () => "least"],
  [/\bleast\b/gi, () => "greatest"],
  [/\bNOT EXISTS\b/g, () => "EXISTS"],
  [/(?<!NOT )(?<!IF )\bEXISTS\b/g, () => "NOT EXISTS"],
  [/\bIS NULL\b/g, () => "IS NOT NULL"],
  [/\bIS NOT NULL\b/g, () => "IS NULL"],
  [/\bOR\b(?! REPLACE)/g, () => "AND"],
  [/ DESC\b/g, () => ""],
  [/\bORDER BY (?:[^()]|\([^()]*\))*?(?=\bLIMIT\b|\bFOR\b|\)|$)/g, () => ""],
  [/\bLIMIT (?:\d+|§\d+§)(?:::\w+)?/g, () => ""],
  [/\bDISTINCT\b(?! FROM| ON)/g, () => ""],
];

function replaceWords(text: string): Cut[] {
  return WORDS.flatMap(([pattern, replace]) =>
    [...text.matchAll(pattern)].map((found) => ({
      start: found.index,
      end: found.index + found[0].length,
      replacement: replace(found[0]),
    })),
  );
}

const CONDITION_END =
  /^(?:AND|OR|GROUP|ORDER|LIMIT|FOR|RETURNING|THEN|UNION|ELSE|END|ON|LEFT|JOIN|WHERE|HAVING|WINDOW)\b/;

/** Makes each condition of WHERE, AND, ON and WHEN true. */
function dropConditions(text: string): Cut[] {
  const cuts: Cut[] = [];
  for (const found of text.matchAll(/\b(?:WHERE|AND|ON(?! CONFLICT)|WHEN|HAVING)\b\s+/g)) {
    if (found[0].startsWith("AND") && /\bBETWEEN\s+\S+\s+$/.test(text.slice(0, found.index))) continue;
    const start = found.index + found[0].length;
    const end = endOf(text, start, CONDITION_END);
    if (end > start && text.slice(start, end).trim() !== "") cuts.push({ start, end, replacement: "true" });
  }
  return cuts;
}

/** Leaves out each assignment of an UPDATE with several. */
function dropAssignments(text: string): Cut[] {
  const cuts: Cut[] = [];
  for (const found of text.matchAll(/\bSET\s+/g)) {
    const items: { start: number; end: number }[] = [];
    let start = found.index + found[0].length;
    for (;;) {
      const end = endOf(text, start, /^(?:,|(?:FROM|WHERE|RETURNING)\b)/);
      items.push({ start, end });
      if (text[end] !== ",") break;
      start = end + 1;
    }
    if (items.length === 1) continue;
    // The comma goes with the assignment before it, or with the last one.
    for (const [index, item] of items.entries())
      cuts.push(
        index === items.length - 1
          ? { start: item.start - 1, end: item.end, replacement: " " }
          : { start: item.start, end: item.end + 1, replacement: " " },
      );
  }
  return cuts;
}

/** Returns where an expression ends: at a word that matches, or at a parenthesis that it did not open. */
function endOf(text: string, start: number, last: RegExp): number {
  let depth = 0;
  let cases = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at]!;
    if (char === "(") depth++;
    if (char === ")" && depth-- === 0) return trimmed(text, start, at);
    if (depth > 0) continue;
    const isWordStart = !/\w/.test(text[at - 1] ?? " ");
    const rest = text.slice(at, at + 12);
    if (isWordStart && /^CASE\b/.test(rest)) cases++;
    if (cases === 0 && (isWordStart || char === ",") && last.test(rest)) return trimmed(text, start, at);
    if (cases === 0 && char === ",") return trimmed(text, start, at);
    if (isWordStart && cases > 0 && /^END\b/.test(rest)) cases--;
  }
  return trimmed(text, start, text.length);
}

function trimmed(text: string, start: number, end: number): number {
  return start + text.slice(start, end).trimEnd().length;
}
