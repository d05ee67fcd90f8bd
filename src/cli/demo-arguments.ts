import { ALGORITHM_TRIPLES, type AlgorithmTriple, findSignatureAlgorithm } from "../protocol/algorithms.ts";
import { UsageError } from "./command.ts";

/** The demo's algorithm, under the names of the contract. */
export interface DemoArguments {
  readonly curve?: string | undefined;
  readonly algorithm?: string | undefined;
  readonly hash?: string | undefined;
}

/**
 * Completes the algorithm with the first combination that fits. The default is SECP256K1, ECDSASecp256k1, SHA256.
 * Throws a UsageError that lists the combinations.
 */
export function chooseTriple(values: DemoArguments): AlgorithmTriple {
  const fitting = fittingTriples(values);
  return fitting.find((each) => each.hash === "SHA256") ?? fitting[0];
}

/** Returns every combination that fits. Throws a UsageError that lists the combinations if there is none. */
export function fittingTriples({
  curve,
  algorithm,
  hash,
}: DemoArguments): readonly [AlgorithmTriple, ...AlgorithmTriple[]] {
  const wanted = algorithm && (findSignatureAlgorithm(algorithm) ?? algorithm);
  const [first, ...others] = ALGORITHM_TRIPLES.filter(
    (triple) =>
      (curve ?? triple.curve) === triple.curve &&
      (wanted ?? triple.signatureAlgorithm) === triple.signatureAlgorithm &&
      (hash ?? triple.hash) === triple.hash,
  );
  if (first === undefined) throw new UsageError(`no such combination; use one of\n${listTriples()}`);
  return [first, ...others];
}

function listTriples(): string {
  return ALGORITHM_TRIPLES.map(
    ({ curve, signatureAlgorithm, hash }) =>
      `  --curve ${curve} --algorithm ${signatureAlgorithm} --hash ${hash}`,
  ).join("\n");
}
