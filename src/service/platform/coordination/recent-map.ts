/** A map of bounded size. A new entry evicts the oldest one. */
export class RecentMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #maxCount: number;

  constructor(maxCount: number) {
    this.#maxCount = maxCount;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  /** Makes the entry the newest one, whether or not it existed. */
  set(key: K, value: V): void {
    this.#entries.delete(key);
    // A map keeps the order of insertion.
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#maxCount) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(key, value);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  /** Iterates from the oldest entry to the newest. */
  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#entries[Symbol.iterator]();
  }
}
