import type { IncomingHttpHeaders } from "node:http";

/**
 * Web `Headers` over the headers that Node gave. Making the former of the latter costs more than all else that is done
 * for a small call, so it waits until more is asked than whether one is there and what it says.
 */
export class LazyHeaders extends Headers {
  #given: IncomingHttpHeaders | undefined;

  /** @param given in lower case, as Node gives them; pseudo headers of HTTP/2 are left out */
  constructor(given: IncomingHttpHeaders = {}) {
    super();
    this.#given = given;
  }

  /** Whether nothing was ever changed, or looked at as a whole. */
  get isUntouched(): boolean {
    return this.#given !== undefined;
  }

  override get(name: string): string | null {
    if (this.#given === undefined) return super.get(name);
    const key = name.toLowerCase();
    const value = Object.hasOwn(this.#given, key) && !key.startsWith(":") ? this.#given[key] : undefined;
    if (value === undefined) return null;
    return Array.isArray(value) ? value.join(", ") : value;
  }

  override has(name: string): boolean {
    return this.get(name) !== null;
  }

  override append(name: string, value: string): void {
    this.#make();
    super.append(name, value);
  }

  override set(name: string, value: string): void {
    this.#make();
    super.set(name, value);
  }

  override delete(name: string): void {
    this.#make();
    super.delete(name);
  }

  override getSetCookie(): string[] {
    this.#make();
    return super.getSetCookie();
  }

  override forEach(callback: (value: string, name: string, parent: Headers) => void, self?: unknown): void {
    this.#make();
    super.forEach(callback, self);
  }

  override keys() {
    this.#make();
    return super.keys();
  }

  override values() {
    this.#make();
    return super.values();
  }

  override entries() {
    this.#make();
    return super.entries();
  }

  override [Symbol.iterator]() {
    return this.entries();
  }

  #make(): void {
    const given = this.#given;
    if (given === undefined) return;
    this.#given = undefined;
    for (const [name, value] of Object.entries(given)) {
      if (name.startsWith(":") || value === undefined) continue;
      for (const one of Array.isArray(value) ? value : [value]) super.append(name, one);
    }
  }
}
