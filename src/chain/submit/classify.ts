import type { ExecutionFailure } from "../outcome.ts";

/**
 * The kind of a failure without execution: the fullnode refused the transaction. One of its operations may be
 * malformed, or the fullnode may lag behind.
 */
export const INVALID_TRANSACTION = "InvalidTransaction";

/**
 * What is to be done about a failed execution.
 * - `retry`: the same will work later; back off.
 * - `operator`: nothing will work until the operator acts ({@link OperatorCause}); the queue stays, and an alarm says so.
 * - `used`: the operation's own session is on the chain, so the chain has it; it never fails.
 * - `fault`: the operation can never work, unless the chain has it already: look for its mark, and fail it if it is not
 *   there. So also where the signer has a key (dynamic_field:0) or the object has moved on (coordinator_inner:4).
 */
export type Verdict = "retry" | "operator" | "used" | "fault";

/** What the operator has to change before the chain accepts the operation. */
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
  // The OperatorCap is of another Treasury, or bound to another address than the hot wallet's.
  "operator_foreign",
  "operator_expired",
  // The OperatorCap has spent what the administrator allows it in an epoch.
  "operator_limit",
  // The Treasury, a cap or the coordinator is of another package than the service calls. The service makes all other
  // arguments itself, so no operation can bring a wrong one.
  "wrong_package",
  "gas",
] as const;
/** One of {@link OPERATOR_CAUSES}. */
export type OperatorCause = (typeof OPERATOR_CAUSES)[number];

/** Aborts by `module:code`; sources are the Ika coordinator's and the Treasury's abort codes. */
const CAUSE_OF_ABORT: Readonly<Record<string, OperatorCause>> = {
  "coordinator:0": "coordinator_version",
  "coordinator:2": "coordinator_version",
  // Versions of the coordinator differ in the place of this check.
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

/** The causes that refuse every operation of the lane alike. */
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

/** Returns what the operator has to change; undefined if the failure is not the operator's matter. */
export function operatorCause({ abort, message, kind }: ExecutionFailure): OperatorCause | undefined {
  if (abort) return CAUSE_OF_ABORT[`${abort.module}:${abort.code}`];
  if (WRONG_ARGUMENT_KINDS.has(kind)) return "wrong_package";
  return kind !== "CongestedObjects" && SHORT_OF_GAS.test(message) ? "gas" : undefined;
}

/** Decides by the kind of error. An unknown abort is the operation's fault; an unknown fault of the chain is not. */
export function classifyFailure(failure: ExecutionFailure): Verdict {
  if (operatorCause(failure) !== undefined) return "operator";
  if (failure.abort) return VERDICT_OF_ABORT[`${failure.abort.module}:${failure.abort.code}`] ?? "fault";
  return FAULTY_KINDS.has(failure.kind) ? "fault" : "retry";
}

/** Returns true if the chain, or a lagging fullnode, has another version of one of the transaction's objects. */
export function isAboutVersions({ kind, message }: ExecutionFailure): boolean {
  return kind === INVALID_TRANSACTION && STALE_OBJECTS.test(message);
}

/**
 * Returns true if the failure is not the fault of one operation: shared objects are busy, gas is short, the fullnode has
 * other versions of the lane's objects, or Ika or the Treasury refuses every call. Splitting the batch would then not
 * help.
 */
export function isAboutAll(failure: ExecutionFailure): boolean {
  const { kind, message } = failure;
  if (kind === "CongestedObjects" || isAboutVersions(failure)) return true;
  if (CAUSES_OF_ALL.includes(operatorCause(failure))) return true;
  return kind === INVALID_TRANSACTION && SHORT_OF_GAS.test(message);
}

/** The messages with which fullnodes report another version of an owned object. */
const STALE_OBJECTS =
  /not available for consumption|could not find the referenced object|invalid object digest/i;
const SHORT_OF_GAS =
  /insufficient.*gas|gas.*insufficient|no valid gas coins|missing gas payment|lower than the needed amount/i;

const WRONG_ARGUMENT_KINDS = new Set(["CommandArgumentError", "TypeArgumentError"]);
const FAULTY_KINDS = new Set(["SizeError", "IndexError", "ObjectIdError"]);
