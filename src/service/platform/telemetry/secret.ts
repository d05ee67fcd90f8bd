import { inspect } from "node:util";

/**
 * A secret value that prints as `[redacted]` in strings, JSON and `util.inspect`, so that it cannot leak into a log or
 * an error by accident. `reveal()` returns the value.
 */
export class Secret<T = string> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.toPrimitive](): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

const REDACTED = "[redacted]";
