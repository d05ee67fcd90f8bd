import {
  SignatureAlgorithm as ProtoAlgorithm,
  Curve as ProtoCurve,
  Hash as ProtoHash,
} from "../../gen/proto/tss/v1/types_pb.ts";
import {
  type AlgorithmTriple,
  type CurveName,
  findSignatureAlgorithm,
  findTriple,
  type HashName,
  type SignatureAlgorithmName,
} from "../protocol/algorithms.ts";

/** Curves by name, spelled as in the Ika SDK. */
export const Curve = {
  SECP256K1: "SECP256K1",
  SECP256R1: "SECP256R1",
  ED25519: "ED25519",
  RISTRETTO: "RISTRETTO",
} as const;
/** A curve's name. */
export type Curve = (typeof Curve)[keyof typeof Curve];

/** Signature algorithms by name, spelled as in the Ika SDK, which calls Schnorrkel SchnorrkelSubstrate until 0.5.0. */
export const SignatureAlgorithm = {
  ECDSASecp256k1: "ECDSASecp256k1",
  Taproot: "Taproot",
  ECDSASecp256r1: "ECDSASecp256r1",
  EdDSA: "EdDSA",
  Schnorrkel: "Schnorrkel",
  SchnorrkelSubstrate: "SchnorrkelSubstrate",
} as const;
/** A signature algorithm's name. */
export type SignatureAlgorithm = (typeof SignatureAlgorithm)[keyof typeof SignatureAlgorithm];

/** Hashes by name, spelled as in the Ika SDK. */
export const Hash = {
  KECCAK256: "KECCAK256",
  SHA256: "SHA256",
  DoubleSHA256: "DoubleSHA256",
  SHA512: "SHA512",
  Merlin: "Merlin",
} as const;
/** A hash's name. */
export type Hash = (typeof Hash)[keyof typeof Hash];

/** The networks that a service may serve. */
export type Network = "localnet" | "testnet" | "mainnet";

/** The triple of these names, or undefined when there is none. Takes both names of Schnorrkel. */
export function tripleOfNames(
  curve: Curve,
  signatureAlgorithm: SignatureAlgorithm,
  hash: Hash,
): AlgorithmTriple | undefined {
  const name = findSignatureAlgorithm(signatureAlgorithm);
  return name && findTriple(curve, name, hash);
}

/** The contract's enum values for the names of a triple. */
export function protoTriple(triple: AlgorithmTriple): {
  signatureAlgorithm: ProtoAlgorithm;
  hashScheme: ProtoHash;
} {
  return {
    signatureAlgorithm: ProtoAlgorithm[triple.signatureAlgorithm],
    hashScheme: ProtoHash[triple.hash],
  };
}

/** The contract's enum value of a curve. */
export function protoCurve(curve: CurveName): ProtoCurve {
  return ProtoCurve[curve];
}

/** The names of the contract's enum values, or undefined for a combination that this client does not know. */
export function tripleOfProto(
  curve: ProtoCurve,
  signatureAlgorithm: ProtoAlgorithm,
  hash: ProtoHash,
): AlgorithmTriple | undefined {
  return findTriple(
    keyOf(ProtoCurve, curve) as CurveName,
    keyOf(ProtoAlgorithm, signatureAlgorithm) as SignatureAlgorithmName,
    keyOf(ProtoHash, hash) as HashName,
  );
}

/** The name of a curve in the service's messages; undefined for one that this client does not know. */
export function curveName(value: ProtoCurve): Curve | undefined {
  return Object.values(Curve).find((name) => ProtoCurve[name] === value);
}

/** The name of a signature algorithm in the service's messages; undefined for one that this client does not know. */
export function signatureAlgorithmName(value: ProtoAlgorithm): SignatureAlgorithm | undefined {
  const name = keyOf(ProtoAlgorithm, value);
  return Object.values(SignatureAlgorithm).find((known) => known === name);
}

/** The name of a hash in the service's messages; undefined for one that this client does not know. */
export function hashName(value: ProtoHash): Hash | undefined {
  return Object.values(Hash).find((name) => ProtoHash[name] === value);
}

/** An unknown number gives a name that no triple has. */
function keyOf(values: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(values).find((key) => values[key] === value) ?? "";
}
