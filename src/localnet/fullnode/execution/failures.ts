import { GrpcTypes } from "@mysten/sui/grpc";

/** The gRPC status codes of this node's answers. */
export const Status = {
  InvalidArgument: 3,
  DeadlineExceeded: 4,
  NotFound: 5,
  ResourceExhausted: 8,
  FailedPrecondition: 9,
  Unimplemented: 12,
  Internal: 13,
  Unavailable: 14,
} as const;

/** Thrown to answer a request with a gRPC status instead of a message. */
export class RpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "RpcFailure";
    this.code = code;
  }
}

/** Returns the failure of a transaction that is rejected before execution because of its inputs. It pays nothing. */
export function invalidInput(message: string): RpcFailure {
  return new RpcFailure(
    Status.InvalidArgument,
    `Transaction execution failed due to issues with transaction inputs, please review the errors and try again:\n- ${message}`,
  );
}

/** The kinds of execution error, as sui.rpc.v2 numbers them. */
export const FailureKind = GrpcTypes.ExecutionError_ExecutionErrorKind;
/** The kinds of command argument error, as sui.rpc.v2 numbers them. */
export const ArgumentFault = GrpcTypes.CommandArgumentError_CommandArgumentErrorKind;

/** The details of a failed execution, apart from its kind. */
export type FailureDetail =
  | {
      readonly kind: "abort";
      readonly packageId: string;
      readonly module: string;
      readonly functionName: string;
      readonly code: bigint;
    }
  | { readonly kind: "argument"; readonly argument: number; readonly fault: number }
  | { readonly kind: "unusedValue"; readonly result: number; readonly subresult: number }
  | { readonly kind: "size"; readonly size: number; readonly maxSize: number }
  | { readonly kind: "congested"; readonly objectIds: readonly string[] }
  | { readonly kind: "none" };

/** Thrown when an execution fails. The effects contain the failure, and the transaction pays gas. */
export class ExecutionError extends Error {
  readonly failureKind: number;
  readonly detail: FailureDetail;

  constructor(failureKind: number, message: string, detail: FailureDetail = { kind: "none" }) {
    super(message);
    this.name = "ExecutionError";
    this.failureKind = failureKind;
    this.detail = detail;
  }
}

/**
 * Returns the error of a Move abort. `location` is `package::module::function` with a long package address; `code` is
 * the module's own abort code.
 */
export function moveAbort(location: string, code: number): ExecutionError {
  const [packageId = "", module = "", functionName = ""] = location.split("::");
  return new ExecutionError(
    FailureKind.MOVE_ABORT,
    `MoveAbort(MoveLocation { module: ${packageId}::${module}, function_name: Some("${functionName}") }, ${code})`,
    { kind: "abort", packageId, module, functionName, code: BigInt(code) },
  );
}

/** Creates the failure of a transaction that was cancelled because of congested shared objects. */
export function congestedObjects(objectIds: readonly string[]): ExecutionError {
  return new ExecutionError(
    FailureKind.EXECUTION_CANCELED_DUE_TO_CONSENSUS_OBJECT_CONGESTION,
    "ExecutionCancelledDueToSharedObjectCongestion",
    { kind: "congested", objectIds },
  );
}

/** A fault of one argument of a command. The interpreter adds the argument's index. */
export class ArgumentFailure extends Error {
  readonly fault: number;

  constructor(fault: number) {
    super(ArgumentFault[fault] ?? "argument error");
    this.name = "ArgumentFailure";
    this.fault = fault;
  }
}
