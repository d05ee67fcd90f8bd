import { byteReader } from "../../protocol/byte-reader.ts";
import { bigIntFromLittleEndian, equalBytes } from "../../protocol/bytes.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import { readCiphertext } from "../../protocol/proofs/ciphertext.ts";
import { type CurvePoint, pointBytes, readPoint, scaleBase } from "../../protocol/proofs/curve.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { CurveNetworkKey } from "./network-key.ts";

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
  rejectUnless(reader.uint8() === 1, "dWallet public output: unknown kind");
  const networkPoint = readPoint(curve, reader, "network's public share");
  const publicKey = readPoint(curve, reader, "public key");
  readCiphertext(curve, reader);
  const userPublicShare = readPoint(curve, reader, "user's public share");
  const randomizer = () => bigIntFromLittleEndian(reader.vector(32));
  const randomizers = [randomizer(), randomizer(), randomizer()] as const;
  rejectUnless(equalBytes(reader.vector(32), key.commitment), "dWallet is bound to another network key");
  reader.end();

  const [first, second, constant] = randomizers;
  const networkShare = floorMod(first * key.keyShares[0] + second * key.keyShares[1] + constant, curve.order);
  const consistent =
    scaleBase(curve, networkShare).equals(networkPoint) &&
    userPublicShare.add(networkPoint).equals(publicKey) &&
    equalBytes(publicKeyBytes, pointBytes(publicKey));
  rejectUnless(consistent, "dWallet public output was not made by this network");
  return { publicKey, userPublicShare, randomizers, networkShare };
}

/** A dWallet's secrets and public parts for signing. */
export interface DWalletShares {
  readonly publicKey: CurvePoint;
  readonly userPublicShare: CurvePoint;
  /** The randomisers that combine the network key's parts into this dWallet's network share. */
  readonly randomizers: readonly [bigint, bigint, bigint];
  /** The network's share of the key. Secret. */
  readonly networkShare: bigint;
}
