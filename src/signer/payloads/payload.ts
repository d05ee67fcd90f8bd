import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SignRequest, SignResponseSchema } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import {
  SignatureAlgorithm as ProtoAlgorithm,
  Hash as ProtoHash,
} from "../../../gen/proto/tss/v1/types_pb.ts";
import type { Curve } from "../../client/sdk/index.ts";
import {
  createMessageSigner,
  type KnownKey,
  type SigningClient,
} from "../../client/signers/message-signer.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple, findTriple } from "../../protocol/algorithms.ts";
import { SignerError, wrongField } from "../signer-error.ts";
import type { StoredKey } from "../store/key-store.ts";

/** A payload that was read for a key. */
export interface Payload {
  /** Signs what the payload has for the key, and returns the reply's form of it. */
  readonly sign: (signer: PayloadSigner) => Promise<FinishedPayload>;
}

/** Signs for one request with one key. The signers of other libraries use it as their client. */
export interface PayloadSigner extends SigningClient {
  readonly key: KnownKey;
  /** The key of the request, which the signatures of its parts extend. */
  readonly idempotencyKey: string;
}

/** The part of a reply that depends on the kind of the payload. */
export type FinishedPayload = Pick<
  MessageInitShape<typeof SignResponseSchema>,
  "signature" | "signedEvmTransaction" | "signedSolanaTransaction" | "signedPsbt" | "bitcoinTransaction"
>;

/**
 * Reads a payload for a key. Throws a SignerError VALIDATION or UNSUPPORTED_ALGORITHM that names the field, and
 * EVM_UNAVAILABLE, SOLANA_UNAVAILABLE or BITCOIN_UNAVAILABLE if the payload needs a package that is not installed.
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
      return oneMessage(triple, message, (signature) => ({ signature }));
    }
    case "evmMessage":
      requireCurve("evm_message", key, ["SECP256K1"]);
      return oneMessage(EVM_TRIPLE, prefixed(payload.value), withEvmRecovery);
    case "evmTypedData": {
      requireCurve("evm_typed_data", key, ["SECP256K1"]);
      const { typedDataMessage } = await loadEvm();
      return oneMessage(EVM_TRIPLE, typedDataMessage(payload.value), withEvmRecovery);
    }
    case "evmTransaction": {
      requireCurve("evm_transaction", key, ["SECP256K1"]);
      const { readTransaction } = await loadEvm();
      const serialize = readTransaction(payload.value);
      return oneMessage(EVM_TRIPLE, payload.value, (signature) => ({
        signature,
        signedEvmTransaction: serialize(withEvmRecovery(signature).signature),
      }));
    }
    case "evmAuthorization": {
      requireCurve("evm_authorization", key, ["SECP256K1"]);
      const { authorizationMessage } = await loadEvm();
      return oneMessage(EVM_TRIPLE, authorizationMessage(payload.value), (signature) => ({ signature }));
    }
    case "solanaTransaction": {
      requireCurve("solana_transaction", key, ["ED25519"]);
      return (await loadSolana()).readSolanaTransaction(payload.value);
    }
    case "suiTransaction":
    case "suiMessage": {
      const field = payload.case === "suiMessage" ? "sui_message" : "sui_transaction";
      const curve = requireCurve(field, key, ["ED25519", "SECP256K1", "SECP256R1"]);
      const { readSuiMessage, readSuiTransaction } = await import("./sui-payload.ts");
      return field === "sui_message"
        ? readSuiMessage(payload.value, curve)
        : readSuiTransaction(payload.value, curve);
    }
    case "bitcoinPsbt": {
      requireCurve("bitcoin_psbt", key, ["SECP256K1"]);
      return (await loadBitcoin()).readPsbt(payload.value);
    }
    case undefined:
      throw wrongField("payload", "is required");
  }
}

const EVM_TRIPLE = findTriple("SECP256K1", "ECDSASecp256k1", "KECCAK256")!;

/** A payload that is one message of the network. */
function oneMessage(
  triple: AlgorithmTriple,
  message: Uint8Array,
  finish: (signature: Uint8Array) => FinishedPayload,
): Payload {
  const { curve, signatureAlgorithm, hash: hashScheme } = triple;
  const algorithm = { curve, signatureAlgorithm, hashScheme };
  return {
    sign: async (signer) => finish(await createMessageSigner(signer, signer.key, algorithm).sign(message)),
  };
}

/** Returns the key's curve, which must be one of these. */
function requireCurve<C extends Curve>(field: string, { curve }: StoredKey, curves: readonly C[]): C {
  const fitting = curves.find((each) => each === curve);
  if (fitting === undefined)
    throw wrongField(field, `needs a key on ${curves.join(" or ")}, and this key is on ${curve}`);
  return fitting;
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
function withEvmRecovery(signature: Uint8Array): { readonly signature: Uint8Array } {
  const changed = Uint8Array.from(signature);
  changed[64] = 27 + signature[64]!;
  return { signature: changed };
}

// Optional packages, which only these payloads need.
const loadEvm = () => load("EVM_UNAVAILABLE", "viem", () => import("./evm-payload.ts"));
const loadSolana = () => load("SOLANA_UNAVAILABLE", "@solana/kit", () => import("./solana-payload.ts"));
const loadBitcoin = () =>
  load("BITCOIN_UNAVAILABLE", "@scure/btc-signer", () => import("./bitcoin-payload.ts"));

/** Loads the part for a kind of payload, or says which package it needs. */
async function load<T>(reason: UnavailableReason, name: string, begin: () => Promise<T>): Promise<T> {
  try {
    return await begin();
  } catch (cause) {
    const text = `this payload needs the package ${name} beside the signer: npm install ${name}`;
    throw new SignerError(reason, text, { metadata: { package: name }, cause });
  }
}

type UnavailableReason = "EVM_UNAVAILABLE" | "SOLANA_UNAVAILABLE" | "BITCOIN_UNAVAILABLE";
