import { readFileSync } from "node:fs";
import type { HashName, SignatureAlgorithmName } from "../../../src/protocol/algorithms.ts";
import { type AlgorithmTriple, type CurveName, findTriple } from "../../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../../src/protocol/bytes.ts";

/**
 * One signature of each valid triple, with all its inputs. The user's half is from ika-wasm 0.2.1, the network's half
 * from a local network. The shares belong to keys that exist nowhere else.
 */
export interface SignatureVector {
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array;
  /** As the chain stores it: v, r, s for ECDSA. */
  readonly chainSignature: Uint8Array;
  readonly dwalletOutput: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  readonly userSecretKeyShareHex: string;
  /** Absent for ECDSA. */
  readonly presign: Uint8Array | undefined;
  /** One for each algorithm. */
  readonly userSignMessage: Uint8Array | undefined;
}

interface RawVector {
  curve: CurveName;
  signatureAlgorithm: SignatureAlgorithmName;
  hash: HashName;
  messageHex: string;
  publicKeyHex: string;
  chainSignatureHex: string;
  dwalletOutputHex: string;
  userPublicOutputHex: string;
  userSecretKeyShareHex: string;
  presignHex?: string;
  userSignMessageHex?: string;
}

/** The vectors, one for each triple. */
export const SIGNATURE_VECTORS: readonly SignatureVector[] = (
  JSON.parse(readFileSync(new URL("./signature-vectors.json", import.meta.url), "utf8")) as RawVector[]
).map((raw) => ({
  triple: findTriple(raw.curve, raw.signatureAlgorithm, raw.hash)!,
  message: hexToBytes(raw.messageHex),
  publicKey: hexToBytes(raw.publicKeyHex),
  chainSignature: hexToBytes(raw.chainSignatureHex),
  dwalletOutput: hexToBytes(raw.dwalletOutputHex),
  userPublicOutput: hexToBytes(raw.userPublicOutputHex),
  userSecretKeyShareHex: raw.userSecretKeyShareHex,
  presign: raw.presignHex === undefined ? undefined : hexToBytes(raw.presignHex),
  userSignMessage: raw.userSignMessageHex === undefined ? undefined : hexToBytes(raw.userSignMessageHex),
}));

/** Returns the vector of an algorithm that has a user sign message. */
export function vectorOf(signatureAlgorithm: SignatureAlgorithmName): SignatureVector {
  const vector = SIGNATURE_VECTORS.find(
    (candidate) =>
      candidate.triple.signatureAlgorithm === signatureAlgorithm && candidate.userSignMessage !== undefined,
  );
  if (vector === undefined) throw new Error(`no vector of ${signatureAlgorithm}`);
  return vector;
}

export function flipBit(bytes: Uint8Array, bit: number): Uint8Array {
  const flipped = bytes.slice();
  flipped[bit >> 3]! ^= 1 << (bit & 7);
  return flipped;
}
