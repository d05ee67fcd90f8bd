import type { CurveName } from "../protocol/algorithms.ts";
import type { UserKeys } from "./engine.ts";
import { SecretBytes } from "./secret-bytes.ts";

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
