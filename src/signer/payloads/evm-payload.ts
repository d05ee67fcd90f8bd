import {
  bytesToHex,
  hexToBytes,
  parseSignature,
  parseTransaction,
  serializeTransaction,
  type TransactionSerializable,
  type TypedDataDefinition,
} from "viem";
import type { EvmAuthorization } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { authorizationPreImage, typedDataPreImage } from "../../client/signers/viem/pre-images.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { wrongField } from "../signer-error.ts";

/** Returns the pre-image of typed data (EIP-712), given as JSON. Throws VALIDATION for text that is not typed data. */
export function typedDataMessage(json: string): Uint8Array {
  try {
    return hexToBytes(typedDataPreImage(JSON.parse(json, refuseLostDigits) as TypedDataDefinition));
  } catch (error) {
    throw wrongField("evm_typed_data", `is not typed data: ${briefly(error)}`);
  }
}

/** A number above 2^53 in JSON is another one here, so that another amount would be signed. */
function refuseLostDigits(_name: string, value: unknown): unknown {
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new Error("give a number above 2^53 as text");
  return value;
}

/** Returns the pre-image of an authorization (EIP-7702). The contract bounds its numbers and the address. */
export function authorizationMessage({ chainId, address, nonce }: EvmAuthorization): Uint8Array {
  const request = { chainId: Number(chainId), address: bytesToHex(address), nonce: Number(nonce) };
  return hexToBytes(authorizationPreImage(request));
}

/**
 * Reads an unsigned transaction. Returns the function that adds a signature of 65 bytes, with v 27 or 28, and serializes
 * it. Throws VALIDATION for octets that are not exactly one unsigned transaction with a chain id: the signature of
 * another one could be used elsewhere.
 */
export function readTransaction(octets: Uint8Array): (signature: Uint8Array) => Uint8Array {
  const transaction = parse(octets);
  return (signature) => hexToBytes(serializeTransaction(transaction, parseSignature(bytesToHex(signature))));
}

function parse(octets: Uint8Array): TransactionSerializable {
  let transaction: TransactionSerializable & { readonly r?: unknown };
  let isSame: boolean;
  try {
    transaction = parseTransaction(bytesToHex(octets));
    isSame = equalBytes(hexToBytes(serializeTransaction(transaction)), octets);
  } catch (error) {
    throw wrongField("evm_transaction", `is not a serialized transaction: ${briefly(error)}`);
  }
  if (transaction.r !== undefined) throw wrongField("evm_transaction", "is already signed");
  if (transaction.type === "eip4844") throw wrongField("evm_transaction", "has blobs (EIP-4844)");
  if (transaction.chainId === undefined) throw wrongField("evm_transaction", "has no chain id (EIP-155)");
  if (!isSame) throw wrongField("evm_transaction", "is not the canonical serialization of a transaction");
  return transaction;
}

/** Returns the first line of an error's text. */
function briefly(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split("\n", 1)[0]!.slice(0, MAX_CHARACTERS);
}

const MAX_CHARACTERS = 200;
