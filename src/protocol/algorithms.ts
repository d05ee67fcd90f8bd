/**
 * The curves by their names in the contract, in the chain's order. The chain numbers algorithms per curve and hashes
 * per algorithm, so its integers mean nothing without their curve. The database stores the chain's integers.
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

/** Every combination that the network supports. */
export const ALGORITHM_TRIPLES: readonly AlgorithmTriple[] = [
  triple("SECP256K1", "ECDSASecp256k1", 0, "KECCAK256", 0),
  triple("SECP256K1", "ECDSASecp256k1", 0, "SHA256", 1),
  triple("SECP256K1", "ECDSASecp256k1", 0, "DoubleSHA256", 2),
  triple("SECP256K1", "Taproot", 1, "SHA256", 0),
  triple("SECP256R1", "ECDSASecp256r1", 0, "SHA256", 0),
  triple("ED25519", "EdDSA", 0, "SHA512", 0),
  triple("RISTRETTO", "Schnorrkel", 0, "Merlin", 0),
];

/** Returns the triple of these names, or undefined when the combination is not valid. */
export function findTriple(
  curve: CurveName,
  signatureAlgorithm: SignatureAlgorithmName,
  hash: HashName,
): AlgorithmTriple | undefined {
  return ALGORITHM_TRIPLES.find(
    (t) => t.curve === curve && t.signatureAlgorithm === signatureAlgorithm && t.hash === hash,
  );
}

/** Returns the triple of the chain's integers, or undefined when the combination is not valid. */
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

/** Returns the curve's name for the chain's integer, or undefined. */
export function curveOfNumber(curveNumber: number): CurveName | undefined {
  return CURVES[curveNumber];
}

/** Returns the chain's integer of a curve. */
export function curveNumber(curve: CurveName): number {
  return CURVES.indexOf(curve);
}

/** Returns the algorithm's name for the chain's integers, or undefined. */
export function signatureAlgorithmOfNumbers(
  curveNumber: number,
  signatureAlgorithmNumber: number,
): SignatureAlgorithmName | undefined {
  return ALGORITHM_TRIPLES.find(
    (t) => t.curveNumber === curveNumber && t.signatureAlgorithmNumber === signatureAlgorithmNumber,
  )?.signatureAlgorithm;
}

/**
 * Returns the algorithm of this name, or undefined. Ika's SDK calls Schnorrkel SchnorrkelSubstrate up to version 0.4.1,
 * and Schnorrkel from version 0.5.0; the chain's integers are the same.
 */
export function findSignatureAlgorithm(name: string): SignatureAlgorithmName | undefined {
  const wanted = name === "SchnorrkelSubstrate" ? "Schnorrkel" : name;
  return ALGORITHM_TRIPLES.find((t) => t.signatureAlgorithm === wanted)?.signatureAlgorithm;
}

/**
 * Ika's algorithms with verifiable secret sharing, by curve and the chain's integer. Their presigns have version 3.
 * This project does not support them.
 */
const VSS_ALGORITHMS = [
  { curve: "SECP256K1", signatureAlgorithmNumber: 2, name: "TaprootVSS" },
  { curve: "ED25519", signatureAlgorithmNumber: 1, name: "EdDSAVSS" },
  { curve: "RISTRETTO", signatureAlgorithmNumber: 1, name: "SchnorrkelVSS" },
] as const;

/** Returns the name of an algorithm that exists on the chain but is not supported here, or undefined. */
export function unsupportedAlgorithmName(
  curveNumber: number,
  signatureAlgorithmNumber: number,
): string | undefined {
  return VSS_ALGORITHMS.find(
    (a) => a.curve === CURVES[curveNumber] && a.signatureAlgorithmNumber === signatureAlgorithmNumber,
  )?.name;
}

/** Returns whether this is the name of an Ika algorithm that is not supported here. */
export function isUnsupportedAlgorithm(name: string): boolean {
  return VSS_ALGORITHMS.some((algorithm) => algorithm.name === name);
}

/** The algorithm of a presign bucket. It has no hash, because a presign works with any of them. */
export interface CurveAlgorithm {
  readonly curve: CurveName;
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly curveNumber: number;
  readonly signatureAlgorithmNumber: number;
}

/** Every curve and algorithm that the network makes presigns for. */
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
