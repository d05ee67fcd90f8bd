import { equalBytes } from "../protocol/bytes.ts";
import type { ChainEncryptionKey } from "../protocol/chain-objects.ts";

/** A user's encryption key as a caller registers it. */
export interface KeyToRegister {
  readonly curve: number;
  readonly signerAddress: string;
  readonly encryptionKey: Uint8Array;
}

/** Whether what a fullnode says to be a signer's registered key is this very key, of this very signer. */
export function isRegisteredKey(onChain: ChainEncryptionKey, key: KeyToRegister): boolean {
  return (
    onChain.curveNumber === key.curve &&
    onChain.signerAddress === key.signerAddress &&
    equalBytes(onChain.encryptionKey, key.encryptionKey)
  );
}
