import { equalBytes } from "../protocol/bytes.ts";
import type { ChainEncryptionKey } from "../protocol/chain-objects.ts";

/** Returns whether the key that a fullnode reports as registered is exactly this key of this signer. */
export function isRegisteredKey(onChain: ChainEncryptionKey, key: KeyToRegister): boolean {
  return (
    onChain.curveNumber === key.curve &&
    onChain.signerAddress === key.signerAddress &&
    equalBytes(onChain.encryptionKey, key.encryptionKey)
  );
}

/** A user's encryption key as a caller registers it. */
export interface KeyToRegister {
  readonly curve: number;
  readonly signerAddress: string;
  readonly encryptionKey: Uint8Array;
}
