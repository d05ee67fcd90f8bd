import { sha512 } from "@noble/hashes/sha2.js";
import { type CurveName, curveNumber } from "../../../protocol/algorithms.ts";
import { bigIntFromBigEndian, bigIntFromLittleEndian } from "../../../protocol/bytes.ts";
import { curveByNumber, pointBytes, scaleBase } from "../../../protocol/proofs/curve.ts";
import { EngineError } from "../engine.ts";

/**
 * Reads the secret scalar of a private key of 32 bytes, between 1 and the order minus one:
 *
 * - SECP256K1, SECP256R1: the number itself, in big-endian;
 * - ED25519: the seed of RFC 8032, from which section 5.1.5 derives the scalar;
 * - RISTRETTO: the number itself, in little-endian.
 *
 * Uses BigInt, whose time depends on the key: do not run this where others can measure it to the microsecond.
 * Intermediate numbers cannot be overwritten. Throws EngineError, which never contains the bytes.
 */
export function readPrivateKey(curveName: CurveName, privateKey: Uint8Array): bigint {
  if (privateKey.length !== 32) throw new EngineError(`private key: 32 bytes, not ${privateKey.length}`);
  const { order } = curveByNumber(curveNumber(curveName));
  const scalar = scalarOf(curveName, privateKey);
  // The scalar of RFC 8032 is below 2^255. Only its value modulo the order matters.
  const reduced = curveName === "ED25519" ? scalar % order : scalar;
  if (reduced === 0n || reduced >= order)
    throw new EngineError(`private key: must be between 1 and the order of ${curveName} minus one`);
  return reduced;
}

function scalarOf(curve: CurveName, privateKey: Uint8Array): bigint {
  switch (curve) {
    case "SECP256K1":
    case "SECP256R1":
      return bigIntFromBigEndian(privateKey);
    case "RISTRETTO":
      return bigIntFromLittleEndian(privateKey);
    case "ED25519": {
      const expanded = sha512(privateKey);
      const clamped = expanded.subarray(0, 32);
      clamped[0]! &= 0b1111_1000;
      clamped[31] = (clamped[31]! & 0b0111_1111) | 0b0100_0000;
      const scalar = bigIntFromLittleEndian(clamped);
      expanded.fill(0);
      return scalar;
    }
  }
}

/** Returns the public key of a private key: 33 bytes compressed for the secp curves, else 32. Throws EngineError. */
export function publicKeyOfPrivateKey(curve: CurveName, privateKey: Uint8Array): Uint8Array {
  return pointBytes(scaleBase(curveByNumber(curveNumber(curve)), readPrivateKey(curve, privateKey)));
}
