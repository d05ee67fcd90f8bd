import { hash_to_field } from "@noble/curves/abstract/hash-to-curve.js";
import { p256_hasher } from "@noble/curves/nist.js";
import { secp256k1, secp256k1_hasher } from "@noble/curves/secp256k1.js";
import { shake256 } from "@noble/hashes/sha3.js";
import { type Json, pointGroupJson, productJson, scalarGroupJson } from "./canonical-parameters.ts";
import { type CurveArithmetic, type CurvePoint, pointJson } from "./curve.ts";

/**
 * Returns message * generator + randomness * H, a Pedersen commitment to a secret scalar. Both scalars are between 1
 * and the order minus one. Uses noble's multiplication for secrets.
 */
export function commitSecretly(
  curve: CurveArithmetic,
  generator: CurvePoint,
  message: bigint,
  randomness: bigint,
): CurvePoint {
  return generator.multiply(message).add(randomnessGenerator(curve).multiply(randomness));
}

/** Describes the scheme's public parameters with a given message generator. */
export function pedersenJson(curve: CurveArithmetic, generator: CurvePoint): Json {
  return {
    canonical_groups_public_parameters: commitmentGroups(
      productJson(scalarGroupJson(curve), 1),
      scalarGroupJson(curve),
      pointGroupJson(curve),
    ),
    message_generators: [pointJson(curve, generator)],
    randomness_generator: pointJson(curve, randomnessGenerator(curve)),
  };
}

/** Describes the scheme that commits to two scalars with two commitments to base G. */
export function pedersenPairJson(curve: CurveArithmetic): Json {
  const scalars = productJson(scalarGroupJson(curve), 2);
  return {
    canonical_groups_public_parameters: commitmentGroups(
      scalars,
      scalars,
      productJson(pointGroupJson(curve), 2),
    ),
    canonical_pedersen_public_parameters: pedersenJson(curve, curve.base),
  };
}

function commitmentGroups(message: Json, randomness: Json, commitment: Json): Json {
  return {
    canonical_message_space_public_parameters: message,
    canonical_randomness_space_public_parameters: randomness,
    canonical_commitment_space_public_parameters: commitment,
  };
}

/**
 * Returns H, a point with an unknown discrete logarithm: a fixed text hashed to the curve (RFC 9380, random oracle,
 * simplified SWU). secp256k1 uses SHAKE-256 with its own domain; secp256r1 uses SHA-256 with the domain of the RFC's
 * test vectors. Both were confirmed by solving a proof of the wasm module for H. Throws a RangeError for curves without
 * ECDSA.
 */
export function randomnessGenerator(curve: CurveArithmetic): CurvePoint {
  const generator = GENERATORS[curve.constants.curve];
  if (generator === undefined) throw new RangeError(`no commitments on ${curve.constants.name}`);
  return generator();
}

const TEXT = new TextEncoder().encode("commitment/pedersen: randomness generator");

/** Creating a sign message takes about thirty commitments. The table is as large as noble's for the base point. */
const TABLE_WIDTH = 8;

const GENERATORS = [
  once(() => {
    const elements = hash_to_field(TEXT, 2, {
      DST: "CURVE_XOF:SHAKE-256_SSWU_RO_",
      p: secp256k1.Point.Fp.ORDER,
      m: 1,
      k: 128,
      expand: "xof",
      hash: shake256,
    });
    // For a prime field, the library accepts the bare element and returns a point, contrary to its types.
    const { mapToCurve } = secp256k1_hasher as unknown as { mapToCurve(fieldElement: bigint): CurvePoint };
    return mapToCurve(elements[0]![0]!).add(mapToCurve(elements[1]![0]!)).precompute(TABLE_WIDTH);
  }),
  once(() => {
    const DST = "QUUX-V01-CS02-with-P256_XMD:SHA-256_SSWU_RO_";
    return p256_hasher.hashToCurve(TEXT, { DST }).precompute(TABLE_WIDTH);
  }),
];

function once(make: () => CurvePoint): () => CurvePoint {
  let made: CurvePoint | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
