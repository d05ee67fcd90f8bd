import { parseArgs } from "node:util";
import { UsageError } from "./command.ts";
import {
  BETWEEN_VALUES,
  didYouMean,
  type Option,
  type Options,
  optionName,
  toKebab,
  type Values,
  WrongValue,
} from "./option.ts";

/**
 * Parses the words after a command's name. Throws a UsageError that names the option and never quotes its value, which
 * may be a key.
 */
export function parseCommandLine<O extends Options>(argv: readonly string[], options: O): Values<O> {
  const given = readTexts(argv, options);
  const values = Object.entries(options).map(([name, option]) => {
    const text = given.get(name);
    const label = option.kind === "operand" ? option.placeholder : optionName(name);
    if (text === undefined && option.isRequired) throw new UsageError(`${label} is missing`);
    return [name, readValue(label, option, text)];
  });
  return Object.fromEntries(values) as Values<O>;
}

function readTexts(argv: readonly string[], options: Options): Map<string, string> {
  const entries = Object.entries(options);
  const named = new Map(
    entries.filter(([, { kind }]) => kind !== "operand").map((entry) => [toKebab(entry[0]), entry]),
  );
  const operand = entries.find(([, { kind }]) => kind === "operand")?.[0];
  const types = [...named].map(
    ([name, [, { kind }]]) => [name, { type: kind === "flag" ? "boolean" : "string" }] as const,
  );
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(types),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Map<string, string>();
  const note = (name: string, label: string, text: string): void => {
    const before = given.get(name);
    if (before !== undefined && options[name]?.isRepeatable !== true)
      throw new UsageError(`${label} is given more than once`);
    given.set(name, before === undefined ? text : before + BETWEEN_VALUES + text);
  };
  for (const token of tokens) {
    if (token.kind === "positional") {
      if (operand === undefined || given.has(operand))
        throw new UsageError(`unexpected argument ${shownWord(token.value)}`);
      note(operand, operand, token.value);
    } else if (token.kind === "option") {
      const [name, option] = named.get(token.name) ?? [];
      if (name === undefined || option === undefined) {
        const near = didYouMean(token.name, [...named.keys()])
          .replace("mean ", "mean --")
          .replace(/ or /g, " or --");
        throw new UsageError(`unknown option ${token.rawName}${near}`);
      }
      note(name, token.rawName, textOf(token, option));
    }
  }
  return given;
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function textOf(
  { rawName, value, inlineValue }: OptionToken,
  { kind, placeholder }: Option<unknown>,
): string {
  if (kind === "flag") {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    return "";
  }
  if (value === undefined) throw new UsageError(`${rawName} takes a value: ${placeholder}`);
  // Another option is not a value. A negative number is one, and so is a cursor, whose first character may be a dash.
  if (inlineValue === false && /^(--|-\D?$)/.test(value))
    throw new UsageError(
      `${rawName} takes a value: ${placeholder}; if the value begins with a dash, write ${rawName}=${placeholder}`,
    );
  return value;
}

function readValue<T>(label: string, option: Option<T>, text: string | undefined): T {
  try {
    return option.read(text);
  } catch (error) {
    throw error instanceof WrongValue ? new UsageError(`${label} ${error.message}`) : error;
  }
}

/** Returns a word of the command line in quotes, or only its length if it may be a key. */
export function shownWord(word: string): string {
  return /^[a-z][a-z-]{0,19}$/.test(word) ? `"${word}"` : `of ${word.length} characters`;
}
