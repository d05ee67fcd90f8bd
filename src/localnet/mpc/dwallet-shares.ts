import { type ByteReader, bigIntFromLittleEndian, byteReader, equalBytes } from "../../protocol/bytes.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import { type CurvePoint, pointBytes, readPoint, scaleBase } from "../../protocol/proofs/curve.ts";
import type { ShareRandomizers } from "../../protocol/proofs/dkg-transcripts.ts";
import { readCiphertext } from "../../protocol/proofs/message-parts.ts";
import { DWALLET_PRESIGN_WEIGHTS } from "../../protocol/proofs/presign.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { CurveNetworkKey } from "./network-key.ts";

/** A dWallet's secrets and public parts for signing. */
export interface DWalletShares {
  readonly publicKey: CurvePoint;
  readonly userPublicShare: CurvePoint;
  /** True for a user's own key. Its network share does not derive from the network key. */
  readonly isImported: boolean;
  /**
   * The weights with which the two encryptions in a presign, and G, give this dWallet's network share. The presign of an
   * imported key encrypts that share itself, so there the first weight is one and the others are zero.
   */
  readonly randomizers: ShareRandomizers;
  /** The network's share of the key. Secret. */
  readonly networkShare: bigint;
}

/**
 * Decodes version 2 of a dWallet public output and checks that this network made it. Throws RejectedInput otherwise.
 */
export function openDWalletOutput(key: CurveNetworkKey, bytes: Uint8Array): DWalletShares {
  const { curve } = key;
  const outer = byteReader(bytes, "dWallet public output");
  rejectUnless(outer.uint8() === 1, "dWallet public output is not version 2");
  const publicKeyBytes = outer.vector();
  const reader = byteReader(outer.vector(), "dWallet public output");
  outer.end();
  const kind = reader.uint8();
  rejectUnless(kind === IMPORTED || kind === DERIVED, "dWallet public output: unknown kind");
  const networkPoint = readPoint(curve, reader, "network's public share");
  const publicKey = readPoint(curve, reader, "public key");
  const encryptedShare = readCiphertext(curve, reader);
  const userPublicShare = readPoint(curve, reader, "user's public share");
  const randomizers = kind === IMPORTED ? DWALLET_PRESIGN_WEIGHTS : readRandomizers(key, reader);
  reader.end();

  const networkShare =
    kind === IMPORTED ? key.decrypt(encryptedShare) : derivedShare(key, randomizers, curve.order);
  const consistent =
    scaleBase(curve, networkShare).equals(networkPoint) &&
    userPublicShare.add(networkPoint).equals(publicKey) &&
    equalBytes(publicKeyBytes, pointBytes(publicKey));
  rejectUnless(consistent, "dWallet public output was not made by this network");
  return { publicKey, userPublicShare, isImported: kind === IMPORTED, randomizers, networkShare };
}

/** The kinds of output: of an imported key, and of a DKG, which derives the network's share from the network key. */
const IMPORTED = 0;
const DERIVED = 1;

function readRandomizers(key: CurveNetworkKey, reader: ByteReader): ShareRandomizers {
  const randomizer = () => bigIntFromLittleEndian(reader.vector(32));
  const randomizers = [randomizer(), randomizer(), randomizer()] as const;
  rejectUnless(equalBytes(reader.vector(32), key.commitment), "dWallet is bound to another network key");
  return randomizers;
}

function derivedShare({ keyShares }: CurveNetworkKey, weights: ShareRandomizers, order: bigint): bigint {
  return floorMod(weights[0] * keyShares[0] + weights[1] * keyShares[1] + weights[2], order);
}
