import type { ExecutionFailure } from "../outcome.ts";

/**
 * The kind of a failure without execution: the fullnode refused the transaction. One of its operations may be
 * malformed, or the fullnode may lag behind.
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
  // The coordinator has paused a curve, an algorithm or a hash.
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

/** Decides by the kind of error. An unknown abort is the operation's fault; an unknown fault of the chain is not. */
export function classifyFailure(failure: ExecutionFailure): Verdict {
  if (failure.abort) return VERDICT_OF_ABORT[`${failure.abort.module}:${failure.abort.code}`] ?? "fault";
  if (failure.kind === "CongestedObjects") return "retry";
  if (SHORT_OF_GAS.test(failure.message)) return "operator";
  return FAULTY_KINDS.has(failure.kind) ? "fault" : "retry";
}

/** Returns true if the chain, or a lagging fullnode, has another version of one of the transaction's objects. */
export function isAboutVersions({ kind, message }: ExecutionFailure): boolean {
  return kind === INVALID_TRANSACTION && STALE_OBJECTS.test(message);
}

/**
 * Returns true if the failure is not the fault of one operation: shared objects are busy, gas is short, or the fullnode
 * has other versions of the lane's objects. Splitting the batch would then not help.
 */
export function isAboutAll(failure: ExecutionFailure): boolean {
  const { kind, message } = failure;
  if (kind === "CongestedObjects" || isAboutVersions(failure)) return true;
  return kind === INVALID_TRANSACTION && SHORT_OF_GAS.test(message);
}

/** The messages with which fullnodes report another version of an owned object. */
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
