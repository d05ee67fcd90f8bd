import { create } from "@bufbuild/protobuf";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { GetPricingResponseSchema } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import type {
  Curve,
  ReadKeyArgs,
  SignArgs,
  SignOptions,
  TssClient,
  TssError,
} from "../../../src/client/sdk/index.ts";
import type { KnownKey, SigningClient } from "../../../src/client/signers/message-signer.ts";
import { addressesOfKey } from "../../../src/protocol/signatures/addresses.ts";

/** One message that the client was asked to sign. */
interface AskedSignature {
  readonly args: SignArgs;
  readonly options: SignOptions;
}

/**
 * A client for tests of signers. It signs like the network, with a private key that the test knows, and hashes its
 * input by the scheme that it is given. A signer that sends a hash or names another scheme therefore gets a signature
 * of another message.
 */
export interface KnownKeyClient extends SigningClient, Pick<TssClient, "prices"> {
  readonly key: KnownKey;
  /** The messages to sign, in order. */
  readonly asked: AskedSignature[];
  /** The arguments of reads of the public key, in order. */
  readonly read: ReadKeyArgs[];
  /** The public key on the chain. A test may change it. */
  chainKeyHex: string;
  /** The error of the next signatures. */
  failure: TssError | undefined;
}

const DWALLET_ID = `0x${"d".repeat(64)}`;

/** Creates a client that knows the private key of its only dWallet. */
export function knownKeyClient(curve: Curve, privateKey: Uint8Array): KnownKeyClient {
  const publicKey = publicKeyOf(curve, privateKey);
  const asked: AskedSignature[] = [];
  const client: KnownKeyClient = {
    key: { seed: new Uint8Array(32).fill(1), dwalletId: DWALLET_ID, publicKeyHex: bytesToHex(publicKey) },
    asked,
    read: [],
    chainKeyHex: bytesToHex(publicKey),
    failure: undefined,
    async readKey(args) {
      client.read.push(args);
      const dwallet = { id: args.dwalletId, curve: args.curve };
      return { dwallet, publicKeyHex: client.chainKeyHex, addresses: addressesOfKey(curve, publicKey) };
    },
    async sign(args, options = {}) {
      options.signal?.throwIfAborted();
      asked.push({ args, options });
      if (client.failure !== undefined) throw client.failure;
      return { signature: signWith(privateKey, args), signRequestId: "", signSessionId: "", txDigest: null };
    },
    async prices() {
      return create(GetPricingResponseSchema, {
        signPriceMicroUsd: 10_000n,
        signPrices: [{ signatureAlgorithm: SignatureAlgorithm.Taproot, priceMicroUsd: 7_000n }],
        includedMessageBytes: 1024,
        messageKibPriceMicroUsd: 500n,
      });
    },
    async signMany(items, { signal, onProgress, onResumeToken } = {}) {
      return await Promise.allSettled(
        items.map(async ({ idempotencyKey, ...args }, index) => {
          onProgress?.(index, "reserve", index);
          await onResumeToken?.(index, `token ${index}`);
          return await client.sign(args, { idempotencyKey, signal });
        }),
      );
    },
  };
  return client;
}

function publicKeyOf(curve: Curve, privateKey: Uint8Array): Uint8Array {
  if (curve === "ED25519") return ed25519.getPublicKey(privateKey);
  return (curve === "SECP256K1" ? secp256k1 : p256).getPublicKey(privateKey, true);
}

/**
 * The network's algorithms by the names that the caller used, with the nonces of RFC 6979 or without added randomness.
 */
function signWith(privateKey: Uint8Array, args: SignArgs): Uint8Array {
  const { curve, signatureAlgorithm, hashScheme, message } = args;
  switch (`${curve}/${signatureAlgorithm}/${hashScheme}`) {
    case "SECP256K1/ECDSASecp256k1/KECCAK256":
      return ecdsa(secp256k1, privateKey, keccak_256(message));
    case "SECP256K1/ECDSASecp256k1/SHA256":
      return ecdsa(secp256k1, privateKey, sha256(message));
    case "SECP256K1/ECDSASecp256k1/DoubleSHA256":
      return ecdsa(secp256k1, privateKey, sha256(sha256(message)));
    case "SECP256R1/ECDSASecp256r1/SHA256":
      return ecdsa(p256, privateKey, sha256(message));
    case "SECP256K1/Taproot/SHA256":
      return schnorr.sign(sha256(message), privateKey, new Uint8Array(32));
    case "ED25519/EdDSA/SHA512":
      return ed25519.sign(message, privateKey);
    default:
      throw new Error(`not a combination that the network signs with: ${JSON.stringify(args)}`);
  }
}

function ecdsa(curve: typeof secp256k1, privateKey: Uint8Array, digest: Uint8Array): Uint8Array {
  const recovered = curve.sign(digest, privateKey, { prehash: false, lowS: true, format: "recovered" });
  return concatBytes(recovered.subarray(1), recovered.subarray(0, 1));
}
