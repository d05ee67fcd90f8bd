/**
 * The one table of curves, signature algorithms and hashes: the names of the contract, and the integers of the chain.
 * The chain counts algorithms per curve and hashes per algorithm, so its integers mean nothing without their curve.
 * The database stores the chain's integers.
 */
export const CURVES = ["SECP256K1", "SECP256R1", "ED25519", "RISTRETTO"] as const;
/** A curve by name; its index in {@link CURVES} is the chain's integer. */
export type CurveName = (typeof CURVES)[number];

/** A signature algorithm by name. */
export type SignatureAlgorithmName = "ECDSASecp256k1" | "Taproot" | "ECDSASecp256r1" | "EdDSA" | "Schnorrkel";

/** A hash by name. */
export type HashName = "KECCAK256" | "SHA256" | "DoubleSHA256" | "SHA512" | "Merlin";

/** One valid combination: names, and the chain's integers. */
export interface AlgorithmTriple {
  readonly curve: CurveName;
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly hash: HashName;
  readonly curveNumber: number;
  readonly signatureAlgorithmNumber: number;
  readonly hashNumber: number;
}

/** Every combination that the network signs with. */
export const ALGORITHM_TRIPLES: readonly AlgorithmTriple[] = [
  triple("SECP256K1", "ECDSASecp256k1", 0, "KECCAK256", 0),
  triple("SECP256K1", "ECDSASecp256k1", 0, "SHA256", 1),
  triple("SECP256K1", "ECDSASecp256k1", 0, "DoubleSHA256", 2),
  triple("SECP256K1", "Taproot", 1, "SHA256", 0),
  triple("SECP256R1", "ECDSASecp256r1", 0, "SHA256", 0),
  triple("ED25519", "EdDSA", 0, "SHA512", 0),
  triple("RISTRETTO", "Schnorrkel", 0, "Merlin", 0),
];

/** The triple of these names, or undefined when the combination is not valid. */
export function findTriple(
  curve: CurveName,
  signatureAlgorithm: SignatureAlgorithmName,
  hash: HashName,
): AlgorithmTriple | undefined {
  return ALGORITHM_TRIPLES.find(
    (t) => t.curve === curve && t.signatureAlgorithm === signatureAlgorithm && t.hash === hash,
  );
}

/** The triple of the chain's integers, or undefined when the combination is not valid. */
export function findTripleByNumbers(
  curveNumber: number,
  signatureAlgorithmNumber: number,
  hashNumber: number,
): AlgorithmTriple | undefined {
  return ALGORITHM_TRIPLES.find(
    (t) =>
      t.curveNumber === curveNumber &&
      t.signatureAlgorithmNumber === signatureAlgorithmNumber &&
      t.hashNumber === hashNumber,
  );
}

/** The curve's name for the chain's integer, or undefined. */
export function curveName(curveNumber: number): CurveName | undefined {
  return CURVES[curveNumber];
}

/** The chain's integer of a curve. */
export function curveNumber(curve: CurveName): number {
  return CURVES.indexOf(curve);
}

/** The algorithm's name for the chain's integers, or undefined. */
export function signatureAlgorithmName(
  curveNumber: number,
  signatureAlgorithmNumber: number,
): SignatureAlgorithmName | undefined {
  return ALGORITHM_TRIPLES.find(
    (t) => t.curveNumber === curveNumber && t.signatureAlgorithmNumber === signatureAlgorithmNumber,
  )?.signatureAlgorithm;
}

/** One presign bucket's algorithm: a presign fits any hash. */
export interface CurveAlgorithm {
  readonly curve: CurveName;
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly curveNumber: number;
  readonly signatureAlgorithmNumber: number;
}

/** Every curve and algorithm that presigns can be made for. */
export const CURVE_ALGORITHMS: readonly CurveAlgorithm[] = ALGORITHM_TRIPLES.filter(
  (t, i, all) => all.findIndex((o) => o.signatureAlgorithm === t.signatureAlgorithm) === i,
).map(({ curve, signatureAlgorithm, curveNumber, signatureAlgorithmNumber }) => ({
  curve,
  signatureAlgorithm,
  curveNumber,
  signatureAlgorithmNumber,
}));

function triple(
  curve: CurveName,
  signatureAlgorithm: SignatureAlgorithmName,
  signatureAlgorithmNumber: number,
  hash: HashName,
  hashNumber: number,
): AlgorithmTriple {
  return {
    curve,
    signatureAlgorithm,
    hash,
    curveNumber: CURVES.indexOf(curve),
    signatureAlgorithmNumber,
    hashNumber,
  };
}
