import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { publicKeyFromSuiBytes } from "@mysten/sui/verify";
import { UsageError } from "../command.ts";
import { optional, WrongValue } from "../option.ts";
import { count } from "../option-values.ts";

/** The options that describe a multisig. */
export const MULTISIG_OPTIONS = {
  publicKeys: optional(
    "<keys>",
    "the public keys of the multisig in Sui's base64, in order, separated by commas",
    publicKeyList,
  ),
  weights: optional("<numbers>", "their weights, separated by commas; default 1 each", weightList),
  threshold: optional("<number>", "the weight that a signature needs", count(1, 65_535)),
};

/** The values of {@link MULTISIG_OPTIONS}. */
export interface MultisigValues {
  readonly publicKeys: readonly string[] | undefined;
  readonly weights: readonly number[] | undefined;
  readonly threshold: number | undefined;
}

/**
 * Returns the multisig that the options describe, or undefined without options. Throws a UsageError if some are
 * missing.
 */
export function multisigOf({
  publicKeys,
  weights,
  threshold,
}: MultisigValues): MultiSigPublicKey | undefined {
  if (publicKeys === undefined && weights === undefined && threshold === undefined) return undefined;
  if (publicKeys === undefined || threshold === undefined)
    throw new UsageError("a multisig needs --public-keys and --threshold");
  if (weights !== undefined && weights.length !== publicKeys.length)
    throw new UsageError("--weights needs one number for each public key");
  try {
    return MultiSigPublicKey.fromPublicKeys({
      threshold,
      publicKeys: publicKeys.map((key, index) => ({
        publicKey: publicKeyFromSuiBytes(key),
        weight: weights?.[index] ?? 1,
      })),
    });
  } catch (error) {
    throw new UsageError(`--public-keys: ${error instanceof Error ? error.message : "malformed"}`);
  }
}

function publicKeyList(text: string): string[] {
  const keys = text.split(",").map((key) => key.trim());
  if (keys.some((key) => !/^[A-Za-z0-9+/]{40,60}={0,2}$/.test(key)))
    throw new WrongValue("takes public keys in base64 with Sui's flag, separated by commas");
  return keys;
}

function weightList(text: string): number[] {
  const read = count(1, 255);
  return text.split(",").map((weight) => read(weight.trim()));
}
