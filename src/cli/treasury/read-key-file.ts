import { decodeSuiPrivateKey, type Keypair } from "@mysten/sui/cryptography";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { hexToBytes } from "../../protocol/bytes.ts";
import { readPrivateFile } from "./read-private-file.ts";

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
