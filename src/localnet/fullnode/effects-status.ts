import type { bcs } from "@mysten/sui/bcs";
import type { GrpcTypes } from "@mysten/sui/grpc";
import { ArgumentFault, FailureKind } from "./failures.ts";
import type { CommandFailure } from "./slots.ts";

/** Returns a failed execution in its sui.rpc.v2 form. */
export function failureProto({ failure, command }: CommandFailure): GrpcTypes.ExecutionError {
  const base = { description: failure.message, command: BigInt(command), kind: failure.failureKind };
  const { detail } = failure;
  switch (detail.kind) {
    case "abort":
      return {
        ...base,
        errorDetails: {
          oneofKind: "abort",
          abort: {
            abortCode: detail.code,
            location: {
              package: detail.packageId,
              module: detail.module,
              function: 0,
              instruction: 0,
              functionName: detail.functionName,
            },
          },
        },
      };
    case "argument":
      return {
        ...base,
        errorDetails: {
          oneofKind: "commandArgumentError",
          commandArgumentError: { argument: detail.argument, kind: detail.fault },
        },
      };
    case "unusedValue":
      return {
        ...base,
        errorDetails: {
          oneofKind: "indexError",
          indexError: { index: detail.result, subresult: detail.subresult },
        },
      };
    case "congested":
      return {
        ...base,
        errorDetails: {
          oneofKind: "congestedObjects",
          congestedObjects: { objects: [...detail.objectIds] },
        },
      };
    case "size":
      return {
        ...base,
        errorDetails: {
          oneofKind: "sizeError",
          sizeError: { size: BigInt(detail.size), maxSize: BigInt(detail.maxSize) },
        },
      };
    case "none":
      return { ...base, errorDetails: { oneofKind: undefined } };
  }
}

type StatusInput = Extract<typeof bcs.TransactionEffects.$inferInput, { V2: unknown }>["V2"]["status"];
type FailureInput = Extract<StatusInput, { Failure: unknown }>["Failure"];
type ErrorInput = FailureInput["error"];

/** Returns a failed execution in the BCS form of the effects. */
export function failureBcs({ failure }: CommandFailure): ErrorInput {
  const { detail } = failure;
  switch (detail.kind) {
    case "abort":
      return {
        MoveAbort: [
          {
            module: { address: detail.packageId, name: detail.module },
            function: 0,
            instruction: 0,
            functionName: detail.functionName,
          },
          detail.code,
        ],
      };
    case "argument":
      return { CommandArgumentError: { argIdx: detail.argument, kind: argumentFaultBcs(detail.fault) } };
    case "unusedValue":
      return { UnusedValueWithoutDrop: { resultIdx: detail.result, secondaryIdx: detail.subresult } };
    case "size":
      return { MoveObjectTooBig: { objectSize: BigInt(detail.size), maxObjectSize: BigInt(detail.maxSize) } };
    case "congested":
      return { ExecutionCancelledDueToSharedObjectCongestion: { congested_objects: [...detail.objectIds] } };
    case "none":
      return simpleFailureBcs(failure.failureKind);
  }
}

function simpleFailureBcs(kind: number): ErrorInput {
  switch (kind) {
    case FailureKind.INSUFFICIENT_GAS:
      return { InsufficientGas: true };
    case FailureKind.INSUFFICIENT_COIN_BALANCE:
      return { InsufficientCoinBalance: true };
    case FailureKind.COIN_BALANCE_OVERFLOW:
      return { CoinBalanceOverflow: true };
    case FailureKind.FUNCTION_NOT_FOUND:
      return { FunctionNotFound: true };
    case FailureKind.ARITY_MISMATCH:
      return { ArityMismatch: true };
    case FailureKind.TYPE_ARITY_MISMATCH:
      return { TypeArityMismatch: true };
    case FailureKind.MOVE_PRIMITIVE_RUNTIME_ERROR:
      return { MovePrimitiveRuntimeError: null };
    case FailureKind.TYPE_ARGUMENT_ERROR:
      return { TypeArgumentError: { argumentIdx: 0, kind: { TypeNotFound: true } } };
    default:
      return { InvariantViolation: true };
  }
}

function argumentFaultBcs(
  fault: number,
): Extract<ErrorInput, { CommandArgumentError: unknown }>["CommandArgumentError"]["kind"] {
  switch (fault) {
    case ArgumentFault.TYPE_MISMATCH:
      return { TypeMismatch: true };
    case ArgumentFault.INVALID_BCS_BYTES:
      return { InvalidBCSBytes: true };
    case ArgumentFault.INDEX_OUT_OF_BOUNDS:
      return { IndexOutOfBounds: { idx: 0 } };
    case ArgumentFault.SECONDARY_INDEX_OUT_OF_BOUNDS:
      return { SecondaryIndexOutOfBounds: { resultIdx: 0, secondaryIdx: 0 } };
    case ArgumentFault.INVALID_RESULT_ARITY:
      return { InvalidResultArity: { resultIdx: 0 } };
    case ArgumentFault.INVALID_GAS_COIN_USAGE:
      return { InvalidGasCoinUsage: true };
    case ArgumentFault.INVALID_OBJECT_BY_VALUE:
      return { InvalidObjectByValue: true };
    case ArgumentFault.INVALID_OBJECT_BY_MUT_REF:
      return { InvalidObjectByMutRef: true };
    case ArgumentFault.INVALID_TRANSFER_OBJECT:
      return { InvalidTransferObject: true };
    case ArgumentFault.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT:
      return { InvalidMakeMoveVecNonObjectArgument: true };
    default:
      return { InvalidValueUsage: true };
  }
}
