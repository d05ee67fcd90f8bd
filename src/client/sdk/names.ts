import {
  SignatureAlgorithm as ProtoAlgorithm,
  Curve as ProtoCurve,
  Hash as ProtoHash,
} from "../../../gen/client/tss/v1/types_pb.ts";
import {
  type AlgorithmTriple,
  type CurveName,
  findSignatureAlgorithm,
  findTriple,
  type HashName,
  type SignatureAlgorithmName,
} from "../../protocol/algorithms.ts";

/** Curves by name, spelled as in the Ika SDK. */
export const Curve = {
  SECP256K1: "SECP256K1",
  SECP256R1: "SECP256R1",
  ED25519: "ED25519",
  RISTRETTO: "RISTRETTO",
} as const;
/** The name of a curve. */
export type Curve = (typeof Curve)[keyof typeof Curve];

/**
 * Signature algorithms by name, spelled as in the Ika SDK. Before version 0.5.0, it calls Schnorrkel
 * SchnorrkelSubstrate.
 */
export const SignatureAlgorithm = {
  ECDSASecp256k1: "ECDSASecp256k1",
  Taproot: "Taproot",
  ECDSASecp256r1: "ECDSASecp256r1",
  EdDSA: "EdDSA",
  Schnorrkel: "Schnorrkel",
  SchnorrkelSubstrate: "SchnorrkelSubstrate",
} as const;
/** The name of a signature algorithm. */
export type SignatureAlgorithm = (typeof SignatureAlgorithm)[keyof typeof SignatureAlgorithm];

/** Hashes by name, spelled as in the Ika SDK. */
export const Hash = {
  KECCAK256: "KECCAK256",
  SHA256: "SHA256",
  DoubleSHA256: "DoubleSHA256",
  SHA512: "SHA512",
  Merlin: "Merlin",
} as const;
/** The name of a hash. */
export type Hash = (typeof Hash)[keyof typeof Hash];

/** The networks that a service may serve. */
export type Network = "localnet" | "testnet" | "mainnet";

/** Returns the triple of these names, or undefined. Accepts both names of Schnorrkel. */
export function tripleOfNames(
  curve: Curve,
  signatureAlgorithm: SignatureAlgorithm,
  hash: Hash,
): AlgorithmTriple | undefined {
  const name = findSignatureAlgorithm(signatureAlgorithm);
  return name && findTriple(curve, name, hash);
}

/** Returns the contract's enum values of a triple. */
export function protoTriple(triple: AlgorithmTriple): {
  signatureAlgorithm: ProtoAlgorithm;
  hashScheme: ProtoHash;
} {
  return {
    signatureAlgorithm: ProtoAlgorithm[triple.signatureAlgorithm],
    hashScheme: ProtoHash[triple.hash],
  };
}

/** Returns the contract's enum value of a curve. */
export function protoCurve(curve: CurveName): ProtoCurve {
  return ProtoCurve[curve];
}

/** Returns the triple of the contract's enum values, or undefined for a combination that this client does not know. */
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

/**
 * Returns the name of a curve in the service's messages, or undefined for an unknown one.
 *
 * @example
 * curveName((await client.getDWallet({ dwalletId })).curve); // "ED25519"
 */
export function curveName(value: ProtoCurve): Curve | undefined {
  return Object.values(Curve).find((name) => ProtoCurve[name] === value);
}

/**
 * Returns the name of a signature algorithm in the service's messages, or undefined for an unknown one.
 *
 * @example
 * signatureAlgorithmName((await client.getSign({ signRequestId })).signatureAlgorithm); // "EdDSA"
 */
export function signatureAlgorithmName(value: ProtoAlgorithm): SignatureAlgorithm | undefined {
  const name = keyOf(ProtoAlgorithm, value);
  return Object.values(SignatureAlgorithm).find((known) => known === name);
}

/**
 * Returns the name of a hash in the service's messages, or undefined for an unknown one.
 *
 * @example
 * hashName((await client.getSign({ signRequestId })).hashScheme); // "SHA512"
 */
export function hashName(value: ProtoHash): Hash | undefined {
  return Object.values(Hash).find((name) => ProtoHash[name] === value);
}

/** Returns the name of a number. An unknown number yields a name that no triple has. */
function keyOf(values: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(values).find((key) => values[key] === value) ?? "";
}
