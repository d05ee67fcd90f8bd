import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { toBase58 } from "@mysten/sui/utils";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "../../../protocol/chain/sui-hash.ts";
import { accumulatorId } from "../objects/address-balance.ts";
import { type ChainObject, type Owner, ownerBcs, PACKAGE_TYPE } from "../objects/object.ts";
import { balanceType } from "../objects/sui-types.ts";
import type { EmittedEvent, FundsChange } from "./execution-state.ts";
import { ArgumentFault, FailureKind } from "./failures.ts";
import type { GasUsed } from "./gas.ts";
import type { CommandFailure } from "./slots.ts";
import { eventsDigest } from "./transaction-events.ts";

/** One object that a transaction created, changed or deleted. */
export interface ObjectChange {
  readonly id: string;
  readonly type: string;
  readonly before: ChainObject | undefined;
  readonly after: ChainObject | undefined;
}

/** The result of an execution, from which the effects are built. */
interface EffectsInput {
  readonly digest: string;
  readonly sender: string;
  readonly epoch: bigint;
  readonly lamportVersion: bigint;
  readonly gasUsed: GasUsed;
  readonly gasObjectId: string | undefined;
  readonly failure: CommandFailure | undefined;
  readonly changes: readonly ObjectChange[];
  readonly funds: readonly FundsChange[];
  readonly readOnlyShared: readonly ChainObject[];
  readonly dependencies: readonly string[];
  readonly events: readonly EmittedEvent[];
}

const { ChangedObject_IdOperation, ChangedObject_InputObjectState, ChangedObject_OutputObjectState } =
  GrpcTypes;

/** Builds transaction effects in their sui.rpc.v2 form, with their BCS form and digest. */
export function buildEffects(input: EffectsInput): GrpcTypes.TransactionEffects {
  const changes = [...input.changes.map(objectEntry), ...input.funds.map(fundsEntry)].sort((a, b) =>
    a.id < b.id ? -1 : 1,
  );
  const changedObjects = changes.map(({ proto }) => proto);
  const gasIndex = changes.findIndex((change) => change.id === input.gasObjectId);
  const eventsHash = input.events.length === 0 ? undefined : eventsDigest(input.events, input.sender);
  const encoded = encodeEffects(input, changes, gasIndex, eventsHash);
  const gasObject = changedObjects[gasIndex];
  return {
    bcs: { name: "TransactionEffects", value: encoded },
    digest: toBase58(blake2b256(utf8ToBytes("TransactionEffects::"), encoded)),
    version: 2,
    status:
      input.failure === undefined
        ? { success: true }
        : { success: false, error: failureProto(input.failure) },
    epoch: input.epoch,
    gasUsed: { ...input.gasUsed },
    transactionDigest: input.digest,
    ...(gasObject === undefined ? {} : { gasObject }),
    ...(eventsHash === undefined ? {} : { eventsDigest: eventsHash }),
    dependencies: [...input.dependencies],
    lamportVersion: input.lamportVersion,
    changedObjects,
    unchangedConsensusObjects: input.readOnlyShared.map((object) => ({
      kind: GrpcTypes.UnchangedConsensusObject_UnchangedConsensusObjectKind.READ_ONLY_ROOT,
      objectId: object.id,
      version: object.version,
      digest: object.digest,
      objectType: object.type,
    })),
    unchangedLoadedRuntimeObjects: [],
  };
}

/** Returns an owner in its sui.rpc.v2 form. */
export function ownerProto(owner: Owner): GrpcTypes.Owner {
  switch (owner.kind) {
    case "address":
      return { kind: GrpcTypes.Owner_OwnerKind.ADDRESS, address: owner.address };
    case "object":
      return { kind: GrpcTypes.Owner_OwnerKind.OBJECT, address: owner.parentId };
    case "shared":
      return { kind: GrpcTypes.Owner_OwnerKind.SHARED, version: owner.initialVersion };
    case "immutable":
      return { kind: GrpcTypes.Owner_OwnerKind.IMMUTABLE };
  }
}

/** An entry of `changed_objects`, in both forms. */
interface ChangeEntry {
  readonly id: string;
  readonly proto: GrpcTypes.ChangedObject;
  readonly bcs: ChangeBcs;
}

type EffectsV2 = Extract<typeof bcs.TransactionEffects.$inferInput, { V2: unknown }>["V2"];
type ChangeBcs = (EffectsV2["changedObjects"] extends Iterable<infer T> ? T : never) extends readonly [
  unknown,
  infer C,
]
  ? C
  : never;

function objectEntry(change: ObjectChange): ChangeEntry {
  const { id, before, after } = change;
  return {
    id,
    proto: changedObject(change),
    bcs: {
      inputState:
        before === undefined
          ? { NotExist: true }
          : { Exist: [[before.version, before.digest], ownerBcs(before.owner)] },
      outputState: outputState(after),
      idOperation:
        before === undefined ? { Created: true } : after === undefined ? { Deleted: true } : { None: true },
    },
  };
}

/** An accumulator write (`sui-types/src/effects/object_change.rs`). The object itself is written by the settlement. */
function fundsEntry({ address, coinType, amount }: FundsChange): ChangeEntry {
  const id = accumulatorId(address, coinType);
  const type = balanceType(coinType);
  const value = amount < 0n ? -amount : amount;
  const { MERGE, SPLIT } = GrpcTypes.AccumulatorWrite_AccumulatorOperation;
  return {
    id,
    proto: {
      objectId: id,
      inputState: ChangedObject_InputObjectState.DOES_NOT_EXIST,
      outputState: ChangedObject_OutputObjectState.ACCUMULATOR_WRITE,
      idOperation: ChangedObject_IdOperation.NONE,
      accumulatorWrite: {
        address,
        accumulatorType: type,
        operation: amount < 0n ? SPLIT : MERGE,
        valueKind: GrpcTypes.AccumulatorWrite_AccumulatorValue.INTEGER,
        integerValue: value,
        integerTuple: [],
        eventDigestValue: [],
      },
    },
    bcs: {
      inputState: { NotExist: true },
      outputState: {
        AccumulatorWriteV1: {
          address: { address, ty: type },
          operation: amount < 0n ? { Split: true } : { Merge: true },
          value: { Integer: value },
        },
      },
      idOperation: { None: true },
    },
  };
}

function changedObject(change: ObjectChange): GrpcTypes.ChangedObject {
  const { before, after } = change;
  return {
    objectId: change.id,
    objectType: change.type,
    idOperation: idOperation(change),
    ...(before === undefined
      ? { inputState: ChangedObject_InputObjectState.DOES_NOT_EXIST }
      : {
          inputState: ChangedObject_InputObjectState.EXISTS,
          inputVersion: before.version,
          inputDigest: before.digest,
          inputOwner: ownerProto(before.owner),
        }),
    ...(after === undefined
      ? { outputState: ChangedObject_OutputObjectState.DOES_NOT_EXIST }
      : {
          outputState:
            change.type === PACKAGE_TYPE
              ? ChangedObject_OutputObjectState.PACKAGE_WRITE
              : ChangedObject_OutputObjectState.OBJECT_WRITE,
          outputVersion: after.version,
          outputDigest: after.digest,
          outputOwner: ownerProto(after.owner),
        }),
  };
}

function idOperation(change: ObjectChange): GrpcTypes.ChangedObject_IdOperation {
  if (change.before === undefined) return ChangedObject_IdOperation.CREATED;
  return change.after === undefined ? ChangedObject_IdOperation.DELETED : ChangedObject_IdOperation.NONE;
}

function encodeEffects(
  input: EffectsInput,
  changes: readonly ChangeEntry[],
  gasIndex: number,
  eventsHash: string | undefined,
): Uint8Array {
  return bcs.TransactionEffects.serialize({
    V2: {
      status:
        input.failure === undefined
          ? { Success: true }
          : { Failure: { error: failureBcs(input.failure), command: BigInt(input.failure.command) } },
      executedEpoch: input.epoch,
      gasUsed: input.gasUsed,
      transactionDigest: input.digest,
      gasObjectIndex: gasIndex < 0 ? null : gasIndex,
      eventsDigest: eventsHash ?? null,
      dependencies: [...input.dependencies],
      lamportVersion: input.lamportVersion,
      changedObjects: changes.map((change) => [change.id, change.bcs]),
      unchangedConsensusObjects: input.readOnlyShared.map((object) => [
        object.id,
        { ReadOnlyRoot: [object.version, object.digest] },
      ]),
      auxDataDigest: null,
    },
  }).toBytes();
}

function outputState(after: ChainObject | undefined) {
  if (after === undefined) return { NotExist: true } as const;
  if (after.type === PACKAGE_TYPE) return { PackageWrite: [after.version, after.digest] as [bigint, string] };
  return { ObjectWrite: [after.digest, ownerBcs(after.owner)] as [string, ReturnType<typeof ownerBcs>] };
}

/** Returns a failed execution in its sui.rpc.v2 form. */
function failureProto({ failure, command }: CommandFailure): GrpcTypes.ExecutionError {
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
function failureBcs({ failure }: CommandFailure): ErrorInput {
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
