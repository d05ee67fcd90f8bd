/**
 * The limits of Sui's protocol that this node enforces (sui-protocol-config).
 * If the protocol compares with "less than", the constant is the first rejected value.
 */
export const LIMITS = {
  /** The largest accepted serialised transaction, including its signatures. */
  transactionBytes: 128 * 1024,
  /** The smallest rejected pure argument. */
  pureArgumentBytes: 16_384,
  /** The smallest rejected number of commands in a programmable transaction. */
  commands: 1_024,
  inputObjects: 2_048,
  argumentsPerCommand: 512,
  /** The maximum number of withdrawals from address balances, without the one that pays for gas. */
  withdrawals: 10,
  gasObjects: 256,
  events: 1_024,
  eventBytes: 250 * 1024,
  objectBytes: 250 * 1024,
  newIds: 2_048,
  /** The maximum number of dynamic fields, and objects in them, that one transaction uses. */
  dynamicFields: 1_000,
  minGasBudget: 2_000_000n,
  maxGasBudget: 50_000_000_000n,
} as const;
