/**
 * Secret bytes with a lifetime. They print as `[redacted]` and are overwritten with zeros when destroyed, as far as a
 * garbage-collected language allows: copies that others made stay. `using` works where the
 * platform has Symbol.dispose, which not every browser does: this project calls `destroy`.
 */
export class SecretBytes implements Disposable {
  #bytes: Uint8Array | undefined;

  /** Takes the bytes over; the caller must not keep them. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The bytes themselves, not a copy. Throws after destroy. */
  reveal(): Uint8Array {
    if (this.#bytes === undefined) throw new Error("the secret was destroyed");
    return this.#bytes;
  }

  /** Overwrites the bytes. A second call does nothing. */
  destroy(): void {
    this.#bytes?.fill(0);
    this.#bytes = undefined;
  }

  [Symbol.dispose](): void {
    this.destroy();
  }

  toString(): string {
    return "[redacted]";
  }

  toJSON(): string {
    return "[redacted]";
  }
}
