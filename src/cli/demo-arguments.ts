import { parseArgs } from "node:util";
import { ALGORITHM_TRIPLES, type AlgorithmTriple } from "../protocol/algorithms.ts";

/** What the demo signs with, and how it reports. */
export interface DemoArguments {
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
  readonly isJson: boolean;
}

/**
 * Reads `--curve --algorithm --hash --message --json`. What is not given is filled in with the first combination that
 * fits what is: nothing at all means SECP256K1, ECDSASecp256k1, SHA256. Throws an error that lists the combinations.
 */
export function parseDemoArguments(argv: readonly string[]): DemoArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      curve: { type: "string" },
      algorithm: { type: "string" },
      hash: { type: "string" },
      message: { type: "string", default: "First light" },
      json: { type: "boolean", default: false },
    },
  });
  const algorithm = values.algorithm === "SchnorrkelSubstrate" ? "Schnorrkel" : values.algorithm;
  const fits = (triple: AlgorithmTriple): boolean =>
    (values.curve ?? triple.curve) === triple.curve &&
    (algorithm ?? triple.signatureAlgorithm) === triple.signatureAlgorithm &&
    (values.hash ?? triple.hash) === triple.hash;
  const fitting = ALGORITHM_TRIPLES.filter(fits);
  const triple = fitting.find(({ hash }) => hash === "SHA256") ?? fitting[0];
  if (triple === undefined) throw new Error(`no such combination; there are\n${listTriples()}`);
  return { triple, message: new TextEncoder().encode(values.message), isJson: values.json };
}

function listTriples(): string {
  return ALGORITHM_TRIPLES.map(
    ({ curve, signatureAlgorithm, hash }) =>
      `  --curve ${curve} --algorithm ${signatureAlgorithm} --hash ${hash}`,
  ).join("\n");
}
