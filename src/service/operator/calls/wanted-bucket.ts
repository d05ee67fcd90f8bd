import { Curve, SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { CURVE_ALGORITHMS, CURVES } from "../../../protocol/algorithms.ts";
import { invalidField } from "../../platform/errors/service-error.ts";

/**
 * Returns the chain's integers for a request, undefined for an omitted field. An algorithm implies its curve, by name
 * or by its number in the contract. Throws VALIDATION if names and numbers contradict each other.
 */
export function wantedBucket(request: NamedBucket): {
  readonly curve: number | undefined;
  readonly signatureAlgorithm: number | undefined;
} {
  const byName = algorithmOf(request.signatureAlgorithmName);
  const byNumber = algorithmOf(request.signatureAlgorithm);
  const curve = agreed("curve", [
    curveOf(request.curveName),
    curveOf(request.curve) ?? request.curve,
    byName?.curveNumber,
    byNumber?.curveNumber,
  ]);
  const signatureAlgorithm = agreed("signature_algorithm", [
    byName?.signatureAlgorithmNumber,
    byNumber?.signatureAlgorithmNumber ?? request.signatureAlgorithm,
  ]);
  return { curve, signatureAlgorithm };
}

/** A curve and an algorithm in a call, by name or by number. */
export interface NamedBucket {
  readonly curve?: number | undefined;
  readonly signatureAlgorithm?: number | undefined;
  readonly curveName?: Curve | undefined;
  readonly signatureAlgorithmName?: SignatureAlgorithm | undefined;
}

/** Returns the chain's integer of a number in the contract. Undefined for any other number. */
function curveOf(number: number | undefined): number | undefined {
  const index = CURVES.findIndex((name) => Curve[name] === number);
  return index < 0 ? undefined : index;
}

function algorithmOf(number: number | undefined) {
  return CURVE_ALGORITHMS.find(({ signatureAlgorithm }) => SignatureAlgorithm[signatureAlgorithm] === number);
}

function agreed(field: string, values: readonly (number | undefined)[]): number | undefined {
  const [first, ...others] = values.filter((value) => value !== undefined);
  if (others.some((other) => other !== first))
    throw invalidField(field, "contradicts another field of the request");
  return first;
}
