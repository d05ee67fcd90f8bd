import type { CurveName } from "../../protocol/algorithms.ts";
import type { UserKeys } from "./engine.ts";

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

/** Wraps plain keys so that the caller can destroy their secrets. */
export function ownUserKeys(keys: PlainUserKeys): UserKeys {
  const { decryptionKey, signerSecretKey } = keys;
  const secrets = [new SecretBytes(decryptionKey), new SecretBytes(signerSecretKey)] as const;
  const destroy = (): void => {
    for (const secret of secrets) secret.destroy();
  };
  return {
    ...keys,
    decryptionKey: secrets[0],
    signerSecretKey: secrets[1],
    destroy,
    [Symbol.dispose]: destroy,
  };
}

/** The keys of a seed on one curve as plain data, which threads can exchange. */
export interface PlainUserKeys {
  readonly curve: CurveName;
  readonly encryptionKey: Uint8Array;
  /** Secret. */
  readonly decryptionKey: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  readonly signerAddress: string;
  /** Secret. */
  readonly signerSecretKey: Uint8Array;
}
