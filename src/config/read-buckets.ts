import {
  CURVE_ALGORITHMS,
  type CurveAlgorithm,
  findSignatureAlgorithm,
  isUnsupportedAlgorithm,
} from "../protocol/algorithms.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads presign buckets, like `ED25519/EdDSA`. */
export function readBuckets(read: ConfigReader<VariableName>, name: VariableName): CurveAlgorithm[] {
  return read.list(name).flatMap((item) => {
    const [curve, algorithmName = ""] = item.split("/");
    const algorithm = findSignatureAlgorithm(algorithmName);
    const found = CURVE_ALGORITHMS.find((c) => c.curve === curve && c.signatureAlgorithm === algorithm);
    if (found) return [found];
    const names = CURVE_ALGORITHMS.map((c) => `${c.curve}/${c.signatureAlgorithm}`).join(", ");
    const why = isUnsupportedAlgorithm(algorithmName) ? `, since ${algorithmName} is not supported` : "";
    read.fault(name, item, `one of ${names}${why}`);
    return [];
  });
}
