import { Curve, Hash, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import { ALGORITHM_TRIPLES, type AlgorithmTriple, findTripleByNumbers } from "../../protocol/algorithms.ts";

/**
 * Returns the combination that the contract's enums name, or undefined if there is none. The algorithm determines the
 * curve.
 */
export function tripleOfEnums(algorithm: SignatureAlgorithm, hash: Hash): AlgorithmTriple | undefined {
  return ALGORITHM_TRIPLES.find(
    (triple) => SignatureAlgorithm[triple.signatureAlgorithm] === algorithm && Hash[triple.hash] === hash,
  );
}

/** Returns the contract's enums of a combination. */
export function enumsOfTriple(triple: AlgorithmTriple): {
  curve: Curve;
  signatureAlgorithm: SignatureAlgorithm;
  hashScheme: Hash;
} {
  return {
    curve: Curve[triple.curve],
    signatureAlgorithm: SignatureAlgorithm[triple.signatureAlgorithm],
    hashScheme: Hash[triple.hash],
  };
}

/** Returns the combination of a row, which was valid when it was written. */
export function tripleOfRow(row: {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
}): AlgorithmTriple {
  const triple = findTripleByNumbers(row.curve, row.signatureAlgorithm, row.hashScheme);
  if (triple === undefined) throw new Error("a sign request has a combination that does not exist");
  return triple;
}
