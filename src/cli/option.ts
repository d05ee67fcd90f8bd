/** An option of a command, or its operand: how help shows it, and what its text becomes. */
export interface Option<T> {
  readonly kind: "flag" | "value" | "operand";
  /** Stands for the value in help, such as `<usd>`; empty for a flag. */
  readonly placeholder: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** What the text becomes, or its absence. Throws a {@link WrongValue}. */
  readonly read: (text: string | undefined) => T;
}

/** The options of a command by their names in camel case: `creditUsd` is `--credit-usd`. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** What a command line says, by the names of its options. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never;
};

/** The text of an option is not what it takes. The message goes on from the option's name: "takes …". */
export class WrongValue extends Error {
  override readonly name = "WrongValue";
}

/** Reads a value. Throws a {@link WrongValue}. */
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

/** An option that need not be given. */
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

/** An option that is taken to be `fallback` where it is not given. */
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

/** An option that must be given. */
export function required<T>(placeholder: string, description: string, read: ReadValue<T>): Option<T> {
  return { kind: "value", placeholder, description, isRequired: true, read: (text = "") => read(text) };
}

/** What the command acts on: given without a name, and never left out. A command has one at most. */
export function operand<T>(placeholder: string, description: string, read: ReadValue<T>): Option<T> {
  return { ...required(placeholder, description, read), kind: "operand" };
}

/** How an option is written: `--credit-usd`. */
export function optionName(name: string): string {
  return `--${toKebab(name)}`;
}

/** `creditUsd` as `credit-usd`. */
export function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
