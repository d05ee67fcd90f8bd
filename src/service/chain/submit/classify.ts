import type { ExecutionFailure } from "../outcome.ts";

/**
 * The kind of a failure without execution: the fullnode refused the transaction. One of its operations may be
 * malformed, or the fullnode may lag behind.
 */
export const INVALID_TRANSACTION = "InvalidTransaction";

/**
 * The reaction to a failed execution.
 * - `retry`: the same transaction will work later; back off.
 * - `operator`: nothing works until the operator acts ({@link OperatorCause}); keep the queue and raise an alarm.
 * - `used`: the operation's session is already on the chain; never fail the operation.
 * - `fault`: the operation can never work, unless it is already on the chain: look for its mark, and fail it if there
 *   is none. This includes a signer that already has a key (dynamic_field:0) and an object in a later state
 *   (coordinator_inner:4).
 */
export type Verdict = "retry" | "operator" | "used" | "fault";

/** The change that the operator must make before the chain accepts the operation. */
export const OPERATOR_CAUSES = [
  // Ika has moved its coordinator to another version, and refuses the package that the Treasury and the service call.
  "coordinator_version",
  // Ika has no price for the operation.
  "ika_price_missing",
  // Ika's price is above the Treasury's ceiling or balance, in IKA or SUI, or there is no ceiling for the operation.
  "price_ceiling",
  "treasury_version",
  "treasury_paused",
  "operator_revoked",
  // The OperatorCap belongs to another Treasury, or is bound to an address other than the hot wallet's.
  "operator_foreign",
  "operator_expired",
  // The OperatorCap has spent its limit for this epoch.
  "operator_limit",
  // The Treasury, a cap or the coordinator belongs to a package other than the one that the service calls. The service
  // itself creates all other arguments, so no operation can cause this.
  "wrong_package",
  "gas",
] as const;
/** One of {@link OPERATOR_CAUSES}. */
export type OperatorCause = (typeof OPERATOR_CAUSES)[number];

/** Keyed by `module:code`, with the abort codes of the Ika coordinator and of the Treasury. */
const CAUSE_OF_ABORT: Readonly<Record<string, OperatorCause>> = {
  "coordinator:0": "coordinator_version",
  "coordinator:2": "coordinator_version",
  // The module of this check depends on the version of the coordinator.
  "pricing_and_fee_manager:1": "ika_price_missing",
  "coordinator_inner:21": "ika_price_missing",
  "sessions_manager:1": "price_ceiling",
  "sessions_manager:2": "price_ceiling",
  "treasury:4": "price_ceiling",
  "treasury:1": "treasury_version",
  "treasury:2": "treasury_paused",
  "treasury:3": "operator_foreign",
  "operators:1": "operator_revoked",
  "operators:2": "operator_foreign",
  "operators:3": "operator_expired",
  "operators:4": "operator_limit",
};

/** The causes that affect every operation of the lane. */
const CAUSES_OF_ALL: readonly (OperatorCause | undefined)[] = [
  "coordinator_version",
  "treasury_version",
  "treasury_paused",
  "operator_revoked",
  "operator_foreign",
  "operator_expired",
  "wrong_package",
];

const VERDICT_OF_ABORT: Readonly<Record<string, Verdict>> = {
  // The coordinator has paused a curve, an algorithm or a hash.
  "support_config:4": "retry",
  "support_config:5": "retry",
  "support_config:6": "retry",
  // The session identifier was registered before.
  "sessions_manager:3": "used",
};

/** Returns the cause that the operator has to remove; undefined if the operator cannot help. */
export function operatorCause({ abort, message, kind }: ExecutionFailure): OperatorCause | undefined {
  if (abort) return CAUSE_OF_ABORT[`${abort.module}:${abort.code}`];
  if (WRONG_ARGUMENT_KINDS.has(kind)) return "wrong_package";
  return kind !== "CongestedObjects" && SHORT_OF_GAS.test(message) ? "gas" : undefined;
}

/** Classifies by the kind of error. An unknown abort is the operation's fault; any other unknown error is not. */
export function classifyFailure(failure: ExecutionFailure): Verdict {
  if (operatorCause(failure) !== undefined) return "operator";
  if (failure.abort) return VERDICT_OF_ABORT[`${failure.abort.module}:${failure.abort.code}`] ?? "fault";
  return FAULTY_KINDS.has(failure.kind) ? "fault" : "retry";
}

/**
 * Returns true if the chain, or a lagging fullnode, has another version of one of the transaction's objects, or less in
 * an address balance than the transaction withdraws.
 */
export function isAboutVersions({ kind, message }: ExecutionFailure): boolean {
  return kind === INVALID_TRANSACTION && STALE_OBJECTS.test(message);
}

/**
 * Returns true if the failure is not the fault of one operation: shared objects are congested, gas is short, the
 * fullnode has other versions of the lane's objects, or Ika or the Treasury refuses every call. Splitting the batch
 * would not help.
 */
export function isAboutAll(failure: ExecutionFailure): boolean {
  const { kind, message } = failure;
  if (kind === "CongestedObjects" || isAboutVersions(failure)) return true;
  if (CAUSES_OF_ALL.includes(operatorCause(failure))) return true;
  return kind === INVALID_TRANSACTION && SHORT_OF_GAS.test(message);
}

/**
 * The messages with which fullnodes report another version of an owned object, and a withdrawal beyond an address
 * balance (`check_amounts_available` in `sui-core/src/accumulators/funds_read.rs`).
 */
const STALE_OBJECTS =
  /not available for consumption|could not find the referenced object|invalid object digest|available amount in account .* is less than requested/i;
const SHORT_OF_GAS =
  /insufficient.*gas|gas.*insufficient|no valid gas coins|missing gas payment|lower than the needed amount/i;

const WRONG_ARGUMENT_KINDS = new Set(["CommandArgumentError", "TypeArgumentError"]);
const FAULTY_KINDS = new Set(["SizeError", "IndexError", "ObjectIdError"]);
