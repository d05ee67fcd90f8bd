import type { IncomingHttpHeaders } from "node:http";

const NONE: IncomingHttpHeaders = {};

/**
 * Web `Headers` over the headers that Node gave. Making the former of the latter costs more than all else that is done
 * for a small call, so it waits until more is asked than whether one is there and what it says.
 */
export class LazyHeaders implements Headers {
  readonly #given: IncomingHttpHeaders;
  #made: Headers | undefined;

  /** @param given in lower case, as Node gives them; pseudo headers of HTTP/2 are left out */
  constructor(given: IncomingHttpHeaders = NONE) {
    this.#given = given;
  }

  /** Whether nothing was ever changed, or looked at as a whole. */
  get isUntouched(): boolean {
    return this.#made === undefined;
  }

  /** Lets go of what was set; what was given stays. */
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
