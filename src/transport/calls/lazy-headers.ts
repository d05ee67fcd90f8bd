import type { IncomingHttpHeaders } from "node:http";

/**
 * Web `Headers` over Node's headers. The conversion costs more than all other work for a small call, so it waits until
 * a caller needs more than `has` and `get`.
 */
export class LazyHeaders implements Headers {
  readonly #given: IncomingHttpHeaders;
  #made: Headers | undefined;

  /**
   * @param given in lower case, as Node provides them; HTTP/2 pseudo-headers are omitted
   */
  constructor(given: IncomingHttpHeaders = NONE) {
    this.#given = given;
  }

  /** Whether the headers were never changed or iterated. */
  get isUntouched(): boolean {
    return this.#made === undefined;
  }

  /** Drops the headers that were set, and keeps those that were given. */
  forget(): void {
    this.#made = undefined;
  }

  get(name: string): string | null {
    if (this.#made !== undefined) return this.#made.get(name);
    const key = name.toLowerCase();
    const value = Object.hasOwn(this.#given, key) && !key.startsWith(":") ? this.#given[key] : undefined;
    if (value === undefined) return null;
    return Array.isArray(value) ? value.join(", ") : value;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  append(name: string, value: string): void {
    this.#make().append(name, value);
  }

  set(name: string, value: string): void {
    this.#make().set(name, value);
  }

  delete(name: string): void {
    this.#make().delete(name);
  }

  getSetCookie(): string[] {
    return this.#make().getSetCookie();
  }

  forEach(callback: (value: string, name: string, parent: Headers) => void, self?: unknown): void {
    this.#make().forEach((value, name) => {
      callback.call(self, value, name, this);
    });
  }

  keys() {
    return this.#make().keys();
  }

  values() {
    return this.#make().values();
  }

  entries() {
    return this.#make().entries();
  }

  [Symbol.iterator]() {
    return this.entries();
  }

  #make(): Headers {
    if (this.#made !== undefined) return this.#made;
    const made = new Headers();
    for (const [name, value] of Object.entries(this.#given)) {
      if (name.startsWith(":") || value === undefined) continue;
      for (const one of Array.isArray(value) ? value : [value]) made.append(name, one);
    }
    this.#made = made;
    return made;
  }
}

const NONE: IncomingHttpHeaders = {};
