import type { ExecutionFailure } from "../outcome.ts";

/**
 * The kind of a failure that is no execution's: the fullnode refused to look at the transaction. One operation of it
 * may be malformed, or the fullnode may lag behind.
 */
export const INVALID_TRANSACTION = "InvalidTransaction";

/**
 * What is to be done about a failed execution.
 * - `retry`: the same will work later; back off.
 * - `operator`: nothing will work until the operator acts; the queue stays, and the log tells the operator.
 * - `used`: the operation's own session is on the chain, so the chain has it; it never fails.
 * - `fault`: the operation can never work, unless the chain has it already: look for its mark, and fail it if it is not
 *   there. So also where the signer has a key (dynamic_field:0) or the object has moved on (coordinator_inner:4).
 */
export type Verdict = "retry" | "operator" | "used" | "fault";

/** Aborts by `module:code`; sources are the Ika coordinator's and the Treasury's abort codes. */
const VERDICT_OF_ABORT: Readonly<Record<string, Verdict>> = {
  // The coordinator pauses a curve, an algorithm or a hash for a while.
  "support_config:4": "retry",
  "support_config:5": "retry",
  "support_config:6": "retry",
  // The price is above what the Treasury may pay (its ceiling), in IKA or SUI.
  "sessions_manager:1": "operator",
  "sessions_manager:2": "operator",
  "treasury:1": "operator",
  "treasury:2": "operator",
  "treasury:3": "operator",
  "treasury:5": "operator",
  "treasury:8": "operator",
  "balance:2": "operator",
  // The session identifier was registered before.
  "sessions_manager:3": "used",
};

/** Decides by kind of error; an unknown abort is the operation's fault, an unknown trouble of the chain is not. */
export function classifyFailure(failure: ExecutionFailure): Verdict {
  if (failure.abort) return VERDICT_OF_ABORT[`${failure.abort.module}:${failure.abort.code}`] ?? "fault";
  if (failure.kind === "CongestedObjects") return "retry";
  if (SHORT_OF_GAS.test(failure.message)) return "operator";
  return FAULTY_KINDS.has(failure.kind) ? "fault" : "retry";
}

/** Whether the chain, or a fullnode that lags behind, has another version of one of the transaction's objects. */
export function isAboutVersions({ kind, message }: ExecutionFailure): boolean {
  return kind === INVALID_TRANSACTION && STALE_OBJECTS.test(message);
}

/**
 * Whether the failure has nothing to do with any one operation: the shared objects are busy, the gas is short, or the
 * fullnode does not have the lane's objects in the versions that the last transaction left. To split the batch would
 * help nobody.
 */
export function isAboutAll(failure: ExecutionFailure): boolean {
  const { kind, message } = failure;
  if (kind === "CongestedObjects" || isAboutVersions(failure)) return true;
  return kind === INVALID_TRANSACTION && SHORT_OF_GAS.test(message);
}

/** How fullnodes say that they know another version of an owned object. */
const STALE_OBJECTS =
  /not available for consumption|could not find the referenced object|invalid object digest/i;
const SHORT_OF_GAS =
  /insufficient.*gas|gas.*insufficient|no valid gas coins|missing gas payment|lower than the needed amount/i;

const FAULTY_KINDS = new Set([
  "SizeError",
  "CommandArgumentError",
  "TypeArgumentError",
  "IndexError",
  "ObjectIdError",
]);
