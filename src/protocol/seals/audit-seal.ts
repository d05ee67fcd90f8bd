import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { equalBytes } from "../bytes.ts";
import { sha256, uint64 } from "./merkle-tree.ts";

/** A seal over consecutive entries. */
export interface AuditSeal extends SealContent {
  readonly sealHash: Uint8Array;
  /** The Ed25519 public key; null, like the signature, without a configured key. */
  readonly publicKey: Uint8Array | null;
  readonly signature: Uint8Array | null;
}

/** The fields that a seal's hash covers. */
export interface SealContent {
  /** Counts from 1, without gaps. */
  readonly number: bigint;
  readonly firstSequence: bigint;
  readonly lastSequence: bigint;
  /** Precise to the millisecond. */
  readonly createdAt: Date;
  /** Over the leaf hashes of the entries. */
  readonly merkleRoot: Uint8Array;
  /** The chain hash of the last entry. */
  readonly chainHash: Uint8Array;
  /** 32 zero bytes before the first seal. */
  readonly previousSealHash: Uint8Array;
}

/** The maximum number of entries in one seal. */
export const SEAL_MAX_COUNT = 4_096;

const SEAL_VERSION = utf8ToBytes("tss.audit.seal.v1");
const SIGNATURE_VERSION = utf8ToBytes("tss.audit.signature.v1");

/** Returns the hash of a seal. It covers the seal's entries and, through the previous seal, all earlier ones. */
export function sealHash(seal: SealContent): Uint8Array {
  return sha256(
    SEAL_VERSION,
    uint64(seal.number),
    uint64(seal.firstSequence),
    uint64(seal.lastSequence),
    uint64(BigInt(seal.createdAt.getTime())),
    seal.merkleRoot,
    seal.chainHash,
    seal.previousSealHash,
  );
}

/** Returns whether the seal's hash matches its fields and its range is valid. */
export function isOwnHash(seal: SealContent & Pick<AuditSeal, "sealHash">): boolean {
  const count = seal.lastSequence - seal.firstSequence + 1n;
  return equalBytes(sealHash(seal), seal.sealHash) && count >= 1n && count <= BigInt(SEAL_MAX_COUNT);
}

/** Returns the bytes that the signature of a seal covers. */
export function signedBytes(hash: Uint8Array): Uint8Array {
  return concatBytes(SIGNATURE_VERSION, hash);
}
