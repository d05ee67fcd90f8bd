/**
 * Sui's protocol limits as this node enforces them (sui-protocol-config).
 * Where the protocol compares with "less than", the constant is the first value that is refused.
 */
export const LIMITS = {
  /** Serialised transaction with its signatures; this many bytes are still accepted. */
  transactionBytes: 128 * 1024,
  /** One pure argument; this many bytes are refused. */
  pureArgumentBytes: 16_384,
  /** Commands of a programmable transaction; this many are refused. */
  commands: 1_024,
  inputObjects: 2_048,
  argumentsPerCommand: 512,
  gasObjects: 256,
  events: 1_024,
  eventBytes: 250 * 1024,
  objectBytes: 250 * 1024,
  newIds: 2_048,
  /** Dynamic fields that one transaction may touch. */
  dynamicFieldAccesses: 1_000,
  minGasBudget: 2_000_000n,
  maxGasBudget: 50_000_000_000n,
} as const;
