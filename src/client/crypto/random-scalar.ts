import { bigIntFromBigEndian } from "../../protocol/bytes.ts";
import type { CurveArithmetic } from "../../protocol/proofs/curve.ts";

/** Draws a scalar in 1..order-1, uniform up to 2^-256. */
export function randomScalar(curve: CurveArithmetic): bigint {
  const wide = globalThis.crypto.getRandomValues(new Uint8Array(64));
  const scalar = (bigIntFromBigEndian(wide) % (curve.order - 1n)) + 1n;
  wide.fill(0);
  return scalar;
}
