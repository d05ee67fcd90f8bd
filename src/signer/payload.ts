import type { SignRequest } from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import { SignatureAlgorithm as ProtoAlgorithm, Hash as ProtoHash } from "../../gen/proto/tss/v1/types_pb.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple, findTriple } from "../protocol/algorithms.ts";
import { SignerError, wrongField } from "./signer-error.ts";
import type { StoredKey } from "./store/key-store.ts";

/** What the network signs for a payload, and how its signature is returned. */
export interface Payload {
  readonly triple: AlgorithmTriple;
  /** The message before hashing. */
  readonly message: Uint8Array;
  /** Returns the reply's form of a signature in the form of `client.sign`. */
  readonly finish: (signature: Uint8Array) => FinishedPayload;
}

/** The part of a reply that depends on the kind of the payload. */
export interface FinishedPayload {
  readonly signature: Uint8Array;
  readonly signedEvmTransaction?: Uint8Array;
}

/**
 * Reads a payload for a key. Throws a SignerError VALIDATION or UNSUPPORTED_ALGORITHM that names the field, and
 * EVM_UNAVAILABLE if typed data or a transaction of Ethereum needs viem and it is not installed.
 */
export async function readPayload(payload: SignRequest["payload"], key: StoredKey): Promise<Payload> {
  switch (payload.case) {
    case "raw": {
      const { message, signatureAlgorithm, hashScheme } = payload.value;
      const triple = ALGORITHM_TRIPLES.find(
        (each) =>
          each.curve === key.curve &&
          ProtoAlgorithm[each.signatureAlgorithm] === signatureAlgorithm &&
          ProtoHash[each.hash] === hashScheme,
      );
      if (triple === undefined) throw unsupported(key);
      return { triple, message, finish: (signature) => ({ signature }) };
    }
    case "evmMessage": {
      const triple = evmTriple("evm_message", key);
      return { triple, message: prefixed(payload.value), finish: withEvmRecovery };
    }
    case "evmTypedData": {
      const triple = evmTriple("evm_typed_data", key);
      const { typedDataMessage } = await loadEvm();
      return { triple, message: typedDataMessage(payload.value), finish: withEvmRecovery };
    }
    case "evmTransaction": {
      const triple = evmTriple("evm_transaction", key);
      const { readTransaction } = await loadEvm();
      const serialize = readTransaction(payload.value);
      const finish = (signature: Uint8Array) => ({
        signature,
        signedEvmTransaction: serialize(withEvmRecovery(signature).signature),
      });
      return { triple, message: payload.value, finish };
    }
    case undefined:
      throw wrongField("payload", "is required");
  }
}

const EVM_TRIPLE = findTriple("SECP256K1", "ECDSASecp256k1", "KECCAK256")!;

function evmTriple(field: string, { curve }: StoredKey): AlgorithmTriple {
  if (curve !== "SECP256K1") throw wrongField(field, `needs a key on SECP256K1, and this key is on ${curve}`);
  return EVM_TRIPLE;
}

function unsupported({ curve }: StoredKey): SignerError {
  const fitting = ALGORITHM_TRIPLES.filter((each) => each.curve === curve);
  const names = fitting
    .map(({ signatureAlgorithm, hash }) => `${signatureAlgorithm} with ${hash}`)
    .join(", ");
  const description = `a key on ${curve} signs with ${names}`;
  return wrongField("raw.signature_algorithm", description, "UNSUPPORTED_ALGORITHM");
}

/** Adds the prefix of EIP-191 for personal messages. */
function prefixed(message: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${message.length}`), message]);
}

/** Ethereum's form of a signature has 27 or 28 instead of the recovery id. */
function withEvmRecovery(signature: Uint8Array): FinishedPayload {
  const changed = Uint8Array.from(signature);
  changed[64] = 27 + signature[64]!;
  return { signature: changed };
}

/** viem is an optional package, which only typed data and transactions need. */
async function loadEvm() {
  try {
    return await import("./evm-payload.ts");
  } catch (cause) {
    throw new SignerError(
      "EVM_UNAVAILABLE",
      "typed data and transactions of Ethereum need the package viem: install it",
      {
        cause,
      },
    );
  }
}
