/** The hash schemes of every pair of curve and signature algorithm, in the chain's numbers. */
export const SUPPORTED_ALGORITHMS: readonly {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashSchemes: readonly number[];
}[] = [
  { curve: 0, signatureAlgorithm: 0, hashSchemes: [0, 1, 2] },
  { curve: 0, signatureAlgorithm: 1, hashSchemes: [0] },
  { curve: 1, signatureAlgorithm: 0, hashSchemes: [0] },
  { curve: 2, signatureAlgorithm: 0, hashSchemes: [0] },
  { curve: 3, signatureAlgorithm: 0, hashSchemes: [0] },
];

/** The curves of {@link SUPPORTED_ALGORITHMS}. */
export const SUPPORTED_CURVES: readonly number[] = [
  ...new Set(SUPPORTED_ALGORITHMS.map((entry) => entry.curve)),
];
