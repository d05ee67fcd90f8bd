import { EngineError } from "../crypto/engine.ts";
import { publicKeyOfPrivateKey } from "../crypto/imports/private-key.ts";
import { TssError } from "../sdk/errors.ts";
import type { Curve } from "../sdk/names.ts";

/** A private key and its curve, as `client.importKey` expects them. */
export interface PrivateKey {
  readonly curve: Curve;
  /** 32 bytes. The caller overwrites them after the import. */
  readonly privateKey: Uint8Array;
}

/** Returns the public key of a key that a reader has found. Throws VALIDATION if the bytes are no key of the curve. */
export function publicKeyOf(field: string, { curve, privateKey }: PrivateKey): Uint8Array {
  try {
    return publicKeyOfPrivateKey(curve, privateKey);
  } catch (error) {
    privateKey.fill(0);
    if (error instanceof EngineError) throw invalidKey(field, `holds no private key of ${curve}`);
    throw error;
  }
}

/** Creates the error for malformed input, with the argument's name. The problem never repeats the input. */
export function invalidKey(field: string, problem: string): TssError {
  return new TssError("VALIDATION", `${field}: ${problem}`, { metadata: { field } });
}
