import { describe, expect, it } from "vitest";
import {
  SignatureAlgorithm as ProtoAlgorithm,
  Curve as ProtoCurve,
  Hash as ProtoHash,
} from "../../../../gen/client/tss/v1/types_pb.ts";
import {
  Curve,
  curveName,
  Hash,
  hashName,
  protoCurve,
  protoTriple,
  SignatureAlgorithm,
  signatureAlgorithmName,
  tripleOfNames,
  tripleOfProto,
} from "../../../../src/client/sdk/names.ts";
import { ALGORITHM_TRIPLES } from "../../../../src/protocol/algorithms.ts";

const UNKNOWN = 99 as never;

describe("the names of curves, algorithms and hashes", () => {
  it("stand for the values of the contract, in both directions", () => {
    for (const triple of ALGORITHM_TRIPLES) {
      const { signatureAlgorithm, hashScheme } = protoTriple(triple);
      const curve = protoCurve(triple.curve);
      expect([curve, signatureAlgorithm, hashScheme]).toEqual([
        ProtoCurve[triple.curve],
        ProtoAlgorithm[triple.signatureAlgorithm],
        ProtoHash[triple.hash],
      ]);
      expect(tripleOfProto(curve, signatureAlgorithm, hashScheme)).toBe(triple);
      expect(tripleOfNames(triple.curve, triple.signatureAlgorithm, triple.hash)).toBe(triple);
      expect(curveName(curve)).toBe(triple.curve);
      expect(signatureAlgorithmName(signatureAlgorithm)).toBe(triple.signatureAlgorithm);
      expect(hashName(hashScheme)).toBe(triple.hash);
    }
  });

  it("of a later contract are unknown", () => {
    expect([curveName(UNKNOWN), signatureAlgorithmName(UNKNOWN), hashName(UNKNOWN)]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    const { ED25519 } = ProtoCurve;
    const { EdDSA } = ProtoAlgorithm;
    const { SHA512 } = ProtoHash;
    expect(tripleOfProto(UNKNOWN, EdDSA, SHA512)).toBeUndefined();
    expect(tripleOfProto(ED25519, UNKNOWN, SHA512)).toBeUndefined();
    expect(tripleOfProto(ED25519, EdDSA, UNKNOWN)).toBeUndefined();
  });

  it("are their own spelling, and Schnorrkel has two", () => {
    for (const names of [Curve, SignatureAlgorithm, Hash])
      for (const [key, name] of Object.entries(names)) expect(name).toBe(key);
    const schnorrkel = tripleOfNames("RISTRETTO", "Schnorrkel", "Merlin");
    expect(schnorrkel).toBeDefined();
    expect(tripleOfNames("RISTRETTO", "SchnorrkelSubstrate", "Merlin")).toBe(schnorrkel);
    expect(tripleOfNames("RISTRETTO", "Schnorrkel", "SHA512")).toBeUndefined();
  });
});
