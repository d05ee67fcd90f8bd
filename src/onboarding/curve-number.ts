import { Curve } from "../../gen/proto/tss/v1/types_pb.ts";
import { invalidField } from "../errors/service-error.ts";
import { CURVES } from "../protocol/algorithms.ts";

/** Returns the chain's integer of the contract's enum. Throws VALIDATION for a number that the enum does not have. */
export function curveNumberOf(curve: Curve): number {
  const number = CURVES.findIndex((name) => Curve[name] === curve);
  if (number < 0) throw invalidField("curve", "is not a curve");
  return number;
}
