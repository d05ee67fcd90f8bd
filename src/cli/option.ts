/** An option or operand of a command, with its help and its parser. */
export interface Option<T> {
  readonly kind: "flag" | "value" | "operand";
  /** The placeholder of the value in help, such as `<usd>`; empty for a flag. */
  readonly placeholder: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** Parses the text, or undefined if the option is absent. Throws a {@link WrongValue}. */
  readonly read: (text: string | undefined) => T;
}

/** The options of a command by their names in camel case: `creditUsd` is `--credit-usd`. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** The values of a command line, by the names of its options. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** Thrown for an invalid value. The message follows the option's name: "takes …". */
export class WrongValue extends Error {
  override readonly name = "WrongValue";
}

/** Parses a value. Throws a {@link WrongValue}. */
export type ReadValue<T> = (text: string) => T;

/** An option without a value. */
export function flag(description: string): Option<boolean> {
  return {
    kind: "flag",
    placeholder: "",
    description,
    isRequired: false,
    read: (text) => text !== undefined,
  };
}

/** An optional option. */
export function optional<T>(
  placeholder: string,
  description: string,
  read: ReadValue<T>,
): Option<T | undefined> {
  return {
    ...{ kind: "value", placeholder, description, isRequired: false },
    read: (text) => (text === undefined ? undefined : read(text)),
  };
}

/** An option with the default `fallback`. */
export function defaulted<T>(
  placeholder: string,
  description: string,
  read: ReadValue<T>,
  fallback: string,
): Option<T> {
  return {
    ...{ kind: "value", placeholder, description: `${description}; default ${fallback}`, isRequired: false },
    read: (text = fallback) => read(text),
  };
}

/** A required option. */
export function required<T>(placeholder: string, description: string, read: ReadValue<T>): Option<T> {
  return { kind: "value", placeholder, description, isRequired: true, read: (text = "") => read(text) };
}

/** A required operand, which has no option name. A command has at most one. */
export function operand<T>(placeholder: string, description: string, read: ReadValue<T>): Option<T> {
  return { ...required(placeholder, description, read), kind: "operand" };
}

/** Returns the option's spelling, such as `--credit-usd`. */
export function optionName(name: string): string {
  return `--${toKebab(name)}`;
}

/** Converts `creditUsd` to `credit-usd`. */
export function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
