import { sha256, uint64 } from "./sha256.ts";

/** A seal over consecutive entries. */
export interface AuditSeal extends SealContent {
  readonly sealHash: Uint8Array;
  /** The Ed25519 public key; null, like the signature, without a configured key. */
  readonly publicKey: Uint8Array | null;
  readonly signature: Uint8Array | null;
}

/** The fields that a seal's hash covers. */
export interface SealContent {
  /** From 1 on, without a gap. */
  readonly number: bigint;
  readonly firstSequence: bigint;
  readonly lastSequence: bigint;
  /** To the millisecond. */
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

const SEAL_VERSION = Buffer.from("tss.audit.seal.v1");

/** The hash of a seal. It covers the seal's entries and, through the previous seal, all earlier ones. */
export function sealHash(seal: SealContent): Buffer {
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
