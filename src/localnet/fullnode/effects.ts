import { bcs } from "@mysten/sui/bcs";
import { GrpcTypes } from "@mysten/sui/grpc";
import { toBase58 } from "@mysten/sui/utils";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { accumulatorId } from "./address-balance.ts";
import { blake2b256 } from "./bytes.ts";
import { failureBcs, failureProto } from "./effects-status.ts";
import type { EmittedEvent, FundsChange } from "./execution-state.ts";
import type { GasUsed } from "./gas.ts";
import { type ChainObject, type Owner, ownerBcs, PACKAGE_TYPE } from "./object.ts";
import type { CommandFailure } from "./slots.ts";
import { balanceType } from "./sui-types.ts";

/** One object that a transaction created, changed or deleted. */
export interface ObjectChange {
  readonly id: string;
  readonly type: string;
  readonly before: ChainObject | undefined;
  readonly after: ChainObject | undefined;
}

/** The result of an execution, from which the effects are built. */
export interface EffectsInput {
  readonly digest: string;
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
  const eventsDigest = input.events.length === 0 ? undefined : digestOfEvents(input.events);
  const encoded = encodeEffects(input, changes, gasIndex, eventsDigest);
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
    ...(eventsDigest === undefined ? {} : { eventsDigest }),
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
  eventsDigest: string | undefined,
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
      eventsDigest: eventsDigest ?? null,
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

function digestOfEvents(events: readonly EmittedEvent[]): string {
  return toBase58(blake2b256(utf8ToBytes("TransactionEvents::"), ...events.map((event) => event.contents)));
}
