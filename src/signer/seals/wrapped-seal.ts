import { randomBytes } from "node:crypto";
import { equalBytes } from "../../protocol/bytes.ts";
import { type KeySeal, SEAL_KEY_BYTES, SealedFileError } from "../store/sealed-file.ts";

/** A service that encrypts keys under a key which never leaves it. */
export interface KeyWrapper {
  /** The kind of the service, such as `aws-kms`. */
  readonly by: string;
  /** The name of its key. */
  readonly keyName: string;
  /** Encrypts a key. Only the same context opens it again. */
  wrap(key: Uint8Array, context: string): Promise<Uint8Array>;
  unwrap(wrapped: Uint8Array, context: string): Promise<Uint8Array>;
}

/** Seals with a random key that a service wraps. The service is called once when a store is made or opened. */
export function wrappedSeal(wrapper: KeyWrapper): KeySeal {
  const { by, keyName } = wrapper;
  return {
    async newKey() {
      const key = new Uint8Array(randomBytes(SEAL_KEY_BYTES));
      const context = randomBytes(CONTEXT_BYTES).toString("hex");
      const wrappedKey = await wrapper.wrap(key, context);
      // A store that nobody can open again would lose its seeds.
      if (!equalBytes(await wrapper.unwrap(wrappedKey, context), key))
        throw new Error(`${by} does not return the key that it has wrapped`);
      return { head: { kind: "wrapped", by, keyName, context, wrappedKey }, key };
    },
    async openKey(head) {
      const foundBy = head.kind === "wrapped" ? head.by : "a passphrase";
      if (head.kind !== "wrapped" || foundBy !== by)
        throw new SealedFileError(`${foundBy} seals the file, and SIGNER_SEAL names ${by}`);
      const key = await wrapper.unwrap(head.wrappedKey, head.context);
      if (key.length !== SEAL_KEY_BYTES) throw new SealedFileError(`${by} returns no key of this file`);
      return { head, key };
    },
  };
}

const CONTEXT_BYTES = 16;
