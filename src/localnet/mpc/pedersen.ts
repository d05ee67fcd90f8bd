import { hash_to_field } from "@noble/curves/abstract/hash-to-curve.js";
import { p256, p256_hasher } from "@noble/curves/nist.js";
import { secp256k1, secp256k1_hasher } from "@noble/curves/secp256k1.js";
import { shake256 } from "@noble/hashes/sha3.js";
import { type Json, pointGroupJson, productJson, scalarGroupJson } from "./canonical-parameters.ts";
import { type Curve, type CurvePoint, pointJson, scale } from "./curve.ts";

/** message * generator + randomness * H: a Pedersen commitment to a scalar. */
export function pedersenCommit(
  curve: Curve,
  generator: CurvePoint,
  message: bigint,
  randomness: bigint,
): CurvePoint {
  return scale(curve, generator, message).add(scale(curve, randomnessGenerator(curve), randomness));
}

/** The scheme's public parameters with a given message generator. */
export function pedersenJson(curve: Curve, generator: CurvePoint): Json {
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

/** The scheme that commits to two scalars with two commitments to base G. */
export function pedersenPairJson(curve: Curve): Json {
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

/** H, whose logarithm nobody knows: a fixed text hashed to the curve (RFC 9380, simplified SWU, expanded by SHAKE-256). */
export function randomnessGenerator(curve: Curve): CurvePoint {
  const { name } = curve.constants;
  const known = GENERATORS.get(name);
  if (known !== undefined) return known;
  const { hasher, fieldOrder } = HASHERS[name === "Secp256k1" ? 0 : 1]!;
  const text = new TextEncoder().encode("commitment/pedersen: randomness generator");
  const [first, second] = hash_to_field(text, 2, {
    DST: "CURVE_XOF:SHAKE-256_SSWU_RO_",
    p: fieldOrder,
    m: 1,
    k: 128,
    expand: "xof",
    hash: shake256,
  });
  const generator = hasher.mapToCurve(first!).add(hasher.mapToCurve(second!));
  GENERATORS.set(name, generator);
  return generator;
}

const GENERATORS = new Map<string, CurvePoint>();

/** The library's types say that this gives coordinates; what it gives is a point, as its documentation says. */
type MapToPoint = { mapToCurve(scalars: bigint[]): CurvePoint };

const HASHERS = [
  { hasher: secp256k1_hasher as unknown as MapToPoint, fieldOrder: secp256k1.Point.Fp.ORDER },
  { hasher: p256_hasher as unknown as MapToPoint, fieldOrder: p256.Point.Fp.ORDER },
];
