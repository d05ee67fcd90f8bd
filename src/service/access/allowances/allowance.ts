import type { SignatureAlgorithmName } from "../../../protocol/algorithms.ts";

/**
 * What a narrow key or a session may do beyond its scopes. An absent list limits nothing. Whoever has it sees nothing
 * of the project but the dWallets of the named users, and of those only the named ones, with what belongs to them.
 */
export interface Allowance {
  /** The id of the session, or of the first of the keys that replaced each other. They spend from one budget. */
  readonly id: string;
  /** Users by their references, at least one. Never named for a caller that may act for every user. */
  readonly userReferences: readonly string[] | undefined;
  /** dWallets by the ids of their objects, at least one. */
  readonly dwalletIds: readonly string[] | undefined;
  readonly algorithms: readonly SignatureAlgorithmName[] | undefined;
  readonly budget: Budget | undefined;
}

/** The maximum that an allowance may spend within any window. At least one of the two limits is given. */
export interface Budget {
  readonly windowSeconds: number;
  /** The number of charged requests: signatures and dWallets. */
  readonly maxCount: number | undefined;
  readonly maxMicroUsd: bigint | undefined;
}

/**
 * Returns whether an allowance confines its caller to users or dWallets. Such a caller may use only methods that confine
 * themselves: those with the reach OWN in the contract.
 */
export function isConfined(allowance: Confinement | undefined): boolean {
  return allowance?.userReferences !== undefined || allowance?.dwalletIds !== undefined;
}

/** The part of an allowance that says what its caller sees. */
export type Confinement = Pick<Allowance, "userReferences" | "dwalletIds">;
