/**
 * Secret bytes that the owner can destroy. They print as `[redacted]`. `destroy` overwrites them with zeros, but copies
 * made by other code stay in memory. `using` requires Symbol.dispose, which some browsers lack, so this project calls
 * `destroy`.
 */
export class SecretBytes implements Disposable {
  #bytes: Uint8Array | undefined;

  /** Takes ownership of the bytes; the caller must not keep them. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Returns the bytes themselves, not a copy. Throws after destroy. */
  reveal(): Uint8Array {
    if (this.#bytes === undefined) throw new Error("the secret was destroyed");
    return this.#bytes;
  }

  /** Overwrites the bytes. A repeated call has no effect. */
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
