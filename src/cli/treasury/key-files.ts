import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { decodeSuiPrivateKey, type Keypair } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { publicKeyFromSuiBytes } from "@mysten/sui/verify";
import { hexToBytes } from "../../protocol/bytes.ts";
import { UsageError } from "../command-line/command.ts";
import { count, optional, WrongValue } from "../command-line/option.ts";
import type { ChangeValues } from "./change-options.ts";

/**
 * Returns the signing key; undefined for unsigned bytes and a dry run. Throws a UsageError for a wrong combination of
 * options.
 */
export function chooseSigner({
  keyFile,
  unsigned,
  sender,
  dryRun: isTry,
}: ChangeValues): Keypair | undefined {
  if (keyFile !== undefined && unsigned !== undefined)
    throw new UsageError("--key-file and --unsigned exclude each other");
  if (keyFile !== undefined && sender !== undefined)
    throw new UsageError("--key-file and --sender exclude each other: the key determines the sender");
  if (keyFile === undefined && unsigned === undefined && !isTry)
    throw new UsageError("--key-file, --unsigned or --dry-run is missing");
  return keyFile === undefined ? undefined : readKeyFile(keyFile);
}

/**
 * Reads a private key: `suiprivkey1...` of any of Sui's schemes, or 64 hex digits of an Ed25519 key, with or without
 * 0x. Throws if other users than the owner have any permission on the file. No error quotes the file's content.
 */
export function readKeyFile(path: string): Keypair {
  const text = readPrivateFile(path).trim();
  const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(text)?.[1];
  if (hex !== undefined) return Ed25519Keypair.fromSecretKey(hexToBytes(hex.toLowerCase()));
  let parsed: ReturnType<typeof decodeSuiPrivateKey>;
  try {
    parsed = decodeSuiPrivateKey(text);
  } catch {
    throw new Error(`the key file ${path} must contain a key that begins with suiprivkey1, or 64 hex digits`);
  }
  switch (parsed.scheme) {
    case "ED25519":
      return Ed25519Keypair.fromSecretKey(parsed.secretKey);
    case "Secp256k1":
      return Secp256k1Keypair.fromSecretKey(parsed.secretKey);
    case "Secp256r1":
      return Secp256r1Keypair.fromSecretKey(parsed.secretKey);
    default:
      throw new Error(`the key in ${path} is of the scheme ${parsed.scheme}, which cannot sign transactions`);
  }
}

/**
 * Reads a user's seed: 64 hex digits, with or without 0x. Throws if other users than the owner have any permission on
 * the file. No error quotes the file's content.
 */
export function readSeedFile(path: string): Uint8Array {
  const hex = /^(?:0x)?([0-9a-f]{64})$/i.exec(readPrivateFile(path).trim())?.[1];
  if (hex === undefined) throw new Error(`the seed file ${path} must contain 64 hex digits`);
  return hexToBytes(hex.toLowerCase());
}

/**
 * Reads a file with a secret. Throws if other users than the owner have any permission on it, or if it is too long for
 * a key.
 */
export function readPrivateFile(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const { mode, size } = fstatSync(descriptor);
    if ((mode & OF_OTHERS) !== 0)
      throw new Error(`others may read the key file ${path}: make it yours alone with chmod 600`);
    if (size > MAX_BYTES) throw new Error(`the key file ${path} is too long for a key`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

const MAX_BYTES = 1_000;
/** The permissions of the group and of others. */
const OF_OTHERS = 0o077;

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
