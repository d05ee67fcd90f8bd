import { EngineError } from "../../../crypto/engine.ts";
import { publicKeyOfPrivateKey } from "../../../crypto/imports/private-key.ts";
import { SecretBytes } from "../../../crypto/secret-bytes.ts";
import type { Action } from "../../action.ts";
import { checkPrivateKey, invalid } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import type { Curve } from "../../names.ts";
import {
  type ImportedKey,
  makeDWallet,
  type OnboardArgs,
  type OnboardResult,
  type OnboardStage,
  type SessionPoint,
} from "../onboard-within.ts";

/** Imports a key within an action that owns copies of the seed and of the private key. */
export async function importWithin(
  context: ClientContext,
  action: Action<OnboardStage>,
  { seed, privateKey }: Pick<ImportKeyArgs, "seed" | "privateKey">,
  point: SessionPoint,
): Promise<OnboardResult> {
  return await makeDWallet(context, action, seed, point, readImportedKey(point.curve, privateKey));
}

/** Arguments of `importKey`. */
export interface ImportKeyArgs extends OnboardArgs {
  /**
   * The key, 32 bytes: of SECP256K1 and SECP256R1 the number in big-endian, of ED25519 the seed of RFC 8032, of RISTRETTO
   * the number in little-endian. It never leaves this process, and the client does not keep it.
   */
  readonly privateKey: Uint8Array;
  /** The dWallet's name, as in `getOrCreate`. Default: no name. */
  readonly name?: string | undefined;
}

/** Reads the action's copy of a private key, which the action overwrites. Throws VALIDATION, which names the field. */
export function readImportedKey(curve: Curve, privateKey: Uint8Array | undefined): ImportedKey {
  if (privateKey === undefined) throw invalid("privateKey", "is required for an import");
  checkPrivateKey(privateKey);
  try {
    const publicKey = publicKeyOfPrivateKey(curve, privateKey);
    return { privateKey: new SecretBytes(privateKey), publicKey };
  } catch (error) {
    if (error instanceof EngineError) throw invalid("privateKey", `is no private key of ${curve}`);
    throw error;
  }
}
