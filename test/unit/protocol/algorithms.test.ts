import { expect, it } from "vitest";
import {
  ALGORITHM_TRIPLES,
  CURVE_ALGORITHMS,
  CURVES,
  curveNumber,
  curveOfNumber,
  findSignatureAlgorithm,
  findTriple,
  findTripleByNumbers,
  isUnsupportedAlgorithm,
  signatureAlgorithmOfNumbers,
  unsupportedAlgorithmName,
} from "../../../src/protocol/algorithms.ts";

it("a combination is found by its names and by the chain's integers, and no other one is", () => {
  for (const triple of ALGORITHM_TRIPLES) {
    const { curve, signatureAlgorithm, hash, signatureAlgorithmNumber, hashNumber } = triple;
    expect(findTriple(curve, signatureAlgorithm, hash)).toBe(triple);
    expect(findTripleByNumbers(triple.curveNumber, signatureAlgorithmNumber, hashNumber)).toBe(triple);
    expect(signatureAlgorithmOfNumbers(triple.curveNumber, signatureAlgorithmNumber)).toBe(
      signatureAlgorithm,
    );
  }
  expect(findTriple("SECP256K1", "Taproot", "KECCAK256")).toBeUndefined();
  expect(findTriple("ED25519", "Taproot", "SHA256")).toBeUndefined();
  expect(findTripleByNumbers(0, 1, 1)).toBeUndefined();
  expect(findTripleByNumbers(2, 1, 0)).toBeUndefined();
  expect(signatureAlgorithmOfNumbers(2, 1)).toBeUndefined();
  expect(signatureAlgorithmOfNumbers(4, 0)).toBeUndefined();
});

it("the chain numbers the curves in their order", () => {
  for (const [number, curve] of CURVES.entries()) {
    expect(curveOfNumber(number)).toBe(curve);
    expect(curveNumber(curve)).toBe(number);
  }
  expect(curveOfNumber(4)).toBeUndefined();
});

it("each curve and algorithm has one bucket of presigns, whatever the hash", () => {
  const names = CURVE_ALGORITHMS.map(({ curve, signatureAlgorithm }) => `${curve} ${signatureAlgorithm}`);
  expect(names).toEqual([
    "SECP256K1 ECDSASecp256k1",
    "SECP256K1 Taproot",
    "SECP256R1 ECDSASecp256r1",
    "ED25519 EdDSA",
    "RISTRETTO Schnorrkel",
  ]);
});

it("Schnorrkel has two names in Ika's SDK, and an unknown name is none", () => {
  expect(findSignatureAlgorithm("Schnorrkel")).toBe("Schnorrkel");
  expect(findSignatureAlgorithm("SchnorrkelSubstrate")).toBe("Schnorrkel");
  expect(findSignatureAlgorithm("Taproot")).toBe("Taproot");
  expect(findSignatureAlgorithm("TaprootVSS")).toBeUndefined();
});

it.each([
  [0, 2, "TaprootVSS"],
  [2, 1, "EdDSAVSS"],
  [3, 1, "SchnorrkelVSS"],
])("the algorithm of the integers %d and %d exists on the chain alone: %s", (curve, algorithm, name) => {
  expect(unsupportedAlgorithmName(curve, algorithm)).toBe(name);
  expect(isUnsupportedAlgorithm(name)).toBe(true);
  for (const [otherCurve, otherAlgorithm] of [
    [curve, 0],
    [1, algorithm],
  ] as const)
    expect(unsupportedAlgorithmName(otherCurve, otherAlgorithm)).toBeUndefined();
});

it("a supported algorithm is none of those", () => {
  for (const { signatureAlgorithm, curveNumber: curve, signatureAlgorithmNumber } of ALGORITHM_TRIPLES) {
    expect(isUnsupportedAlgorithm(signatureAlgorithm)).toBe(false);
    expect(unsupportedAlgorithmName(curve, signatureAlgorithmNumber)).toBeUndefined();
  }
});
