import { expect, test } from "vitest";
import { chooseTriple, type DemoArguments, verifyOutside } from "../../../src/cli/demo/demo-steps.ts";
import { ALGORITHM_TRIPLES } from "../../../src/protocol/algorithms.ts";
import { signatureFromChain } from "../../../src/protocol/signatures/signature-forms.ts";
import { flipBit, SIGNATURE_VECTORS } from "../../support/crypto/signature-vectors.ts";

const names = (wanted: DemoArguments): string[] => {
  const { curve, signatureAlgorithm, hash } = chooseTriple(wanted);
  return [curve, signatureAlgorithm, hash];
};

test("without arguments the demo signs with secp256k1 ECDSA over SHA-256", () => {
  expect(names({})).toEqual(["SECP256K1", "ECDSASecp256k1", "SHA256"]);
});

test("missing arguments are filled in", () => {
  expect(names({ curve: "ED25519" })).toEqual(["ED25519", "EdDSA", "SHA512"]);
  expect(names({ algorithm: "SchnorrkelSubstrate" })).toEqual(["RISTRETTO", "Schnorrkel", "Merlin"]);
  expect(names({ hash: "KECCAK256" })).toEqual(["SECP256K1", "ECDSASecp256k1", "KECCAK256"]);
  for (const { curve, signatureAlgorithm, hash } of ALGORITHM_TRIPLES) {
    expect(names({ curve, algorithm: signatureAlgorithm, hash })).toEqual([curve, signatureAlgorithm, hash]);
  }
});

test("an unknown combination is refused with a list of the known ones", () => {
  expect(() => chooseTriple({ curve: "ED25519", hash: "SHA256" })).toThrow("--algorithm Schnorrkel");
});

test("the demo's outside libraries accept each algorithm's signature and refuse a changed one", async () => {
  for (const { triple, publicKey, message, chainSignature } of SIGNATURE_VECTORS) {
    const signature = signatureFromChain(triple.signatureAlgorithm, chainSignature);
    const claim = { triple, publicKey, message, signature };
    expect([triple.signatureAlgorithm, await verifyOutside(claim)]).toEqual([
      triple.signatureAlgorithm,
      true,
    ]);
    expect(await verifyOutside({ ...claim, message: flipBit(message, 1) })).toBe(false);
    expect(await verifyOutside({ ...claim, signature: flipBit(signature, 8 * 40) })).toBe(false);
  }
});
