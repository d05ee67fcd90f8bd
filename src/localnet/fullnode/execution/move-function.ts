import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { PACKAGE_TYPE } from "../objects/object.ts";
import { coinObjectType, ID_TYPE } from "../objects/sui-types.ts";
import type { Codec, ExecutionState, WorkingObject } from "./execution-state.ts";
import { ArgumentFailure, ArgumentFault } from "./failures.ts";

/** Defines a function whose body receives the decoded arguments. */
export function moveFunction<const P extends readonly MoveParameter<unknown>[]>(definition: {
  readonly packageId: string;
  readonly module: string;
  readonly name: string;
  readonly typeParameterCount?: number;
  readonly parameters: P;
  readonly returns?: readonly string[];
  // biome-ignore lint/suspicious/noConfusingVoidType: a Move function without results returns nothing
  run(call: MoveCallContext, ...args: Arguments<P>): readonly MoveValue[] | void;
}): MoveFunction {
  return {
    packageId: definition.packageId,
    module: definition.module,
    name: definition.name,
    typeParameterCount: definition.typeParameterCount ?? 0,
    parameters: definition.parameters,
    returns: definition.returns ?? [],
    run: (call, args) => definition.run(call, ...(args as Arguments<P>)) ?? [],
  };
}

/** How a parameter receives its argument: by value or by reference. */
export type Reference = "value" | "immutable" | "mutable";

/** One parameter of a Move function. In `type`, `$0` stands for the function's first type argument. */
export interface MoveParameter<T> {
  readonly reference: Reference;
  readonly type: string;
  accept(value: MoveValue, type: string): T;
}

export interface MoveCallContext {
  readonly state: ExecutionState;
  readonly sender: string;
  readonly epoch: bigint;
  readonly typeArguments: readonly string[];
}

/** A Move function that this node can execute. */
export interface MoveFunction {
  readonly packageId: string;
  readonly module: string;
  readonly name: string;
  readonly typeParameterCount: number;
  readonly parameters: readonly MoveParameter<unknown>[];
  /** Return types, for the function's description. */
  readonly returns: readonly string[];
  run(call: MoveCallContext, args: readonly unknown[]): readonly MoveValue[];
}

type Arguments<P extends readonly MoveParameter<unknown>[]> = {
  [K in keyof P]: P[K] extends MoveParameter<infer T> ? T : never;
};

/** The functions of a node by `package::module::function`. */
export interface FunctionTable extends ReadonlyMap<string, MoveFunction> {
  /** Undefined if the node publishes nothing. */
  readonly packages?: PublishedPackages | undefined;
  /** Hears of each call of a function that is not in the table, with its full name. */
  readonly onMissing?: ((fullName: string) => void) | undefined;
}

export interface PublishedPackages {
  /** Creates the package and the objects that its modules create. Returns the UpgradeCap. */
  publish(
    call: MoveCallContext,
    modules: readonly Uint8Array[],
    dependencies: readonly string[],
  ): readonly MoveValue[];
  functionsOf(packageId: string): ReadonlyMap<string, MoveFunction>;
  /** The package of the same modules that the network starts with. */
  readonly firstPackageId: string;
  /** Returns the compiled modules of such a package, as a publication has them. */
  modules(): readonly Uint8Array[];
}

/** Indexes functions by their full name. */
export function functionTable(
  functions: readonly MoveFunction[],
  packages?: PublishedPackages,
): FunctionTable {
  const table = new Map(functions.map((item) => [`${item.packageId}::${item.module}::${item.name}`, item]));
  return Object.assign(table, { packages });
}

/** Finds a function of the node, or of a package that was published on it. */
export function lookUpFunction(
  functions: FunctionTable,
  packageId: string,
  name: string,
  typeOf: (id: string) => string | undefined,
): MoveFunction | undefined {
  const fullName = `${packageId}::${name}`;
  const found = functions.get(fullName);
  if (found !== undefined || typeOf(packageId) !== PACKAGE_TYPE) return found;
  return functions.packages?.functionsOf(packageId).get(fullName);
}

/** A `u8` as a number. */
export const u8 = pure("u8", bcs.u8());
/** A `u32` as a number. */
export const u32 = pure("u32", bcs.u32());
/** A `u64` as a bigint. */
export const u64 = pure("u64", U64, (value) => BigInt(value));
export const bool = pure("bool", bcs.bool());
/** An `address` in its long form. */
export const address = pure("address", Address);
/** An `ID` in its long form. */
export const moveId = pure(ID_TYPE, Address);
/** A `vector<ID>`, each in its long form. */
export const moveIds = pure(`vector<${ID_TYPE}>`, bcs.vector(Address));
export const bytes = pure("vector<u8>", bcs.byteVector());
export const bytesVector = pure("vector<vector<u8>>", bcs.vector(bcs.byteVector()));

/** An object by value. */
export function owned(type: string): MoveParameter<WorkingObject> {
  return { reference: "value", type, accept: acceptObject };
}

/** An object by immutable reference. */
export function borrowed(type: string): MoveParameter<WorkingObject> {
  return { reference: "immutable", type, accept: acceptObject };
}

/** An object by mutable reference. */
export function borrowedMut(type: string): MoveParameter<WorkingObject> {
  return { reference: "mutable", type, accept: acceptObject };
}

/** `Receiving<type>`: an object that was sent to another object. */
export function receiving(type: string): MoveParameter<WorkingObject> {
  return {
    reference: "value",
    type,
    accept(value, wanted) {
      if (value.kind !== "receiving" || value.object.type !== wanted)
        throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
      return value.object;
    },
  };
}

/** `&mut Coin<coinType>` */
export function coinMut(coinType: string): MoveParameter<WorkingObject> {
  return borrowedMut(coinObjectType(coinType));
}

/** A struct without an id, by value, as its BCS bytes. */
export function struct(type: string): MoveParameter<Uint8Array> {
  return structParameter("value", type);
}

/** A struct without an id, by immutable reference, as its BCS bytes. */
export function borrowedStruct(type: string): MoveParameter<Uint8Array> {
  return structParameter("immutable", type);
}

function structParameter(reference: Reference, type: string): MoveParameter<Uint8Array> {
  return {
    reference,
    type,
    accept(value, wanted) {
      if (value.kind !== "data" || value.type !== wanted)
        throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
      return value.bytes;
    },
  };
}

function pure<T>(type: string, codec: Codec<T>): MoveParameter<T>;
function pure<T, U>(type: string, codec: Codec<T>, convert: (value: T) => U): MoveParameter<U>;
function pure<T>(
  type: string,
  codec: Codec<T>,
  convert: (value: T) => unknown = (value) => value,
): MoveParameter<unknown> {
  return {
    reference: "value",
    type,
    accept(value) {
      if (value.kind !== "data" || (value.type !== undefined && value.type !== type)) {
        throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
      }
      return convert(parseExactly(codec, value.bytes));
    },
  };
}

/** Rejects bytes that do not encode back to themselves, as Move does: BCS has exactly one encoding per value. */
function parseExactly<T>(codec: Codec<T>, input: Uint8Array): T {
  let value: T;
  let again: Uint8Array;
  try {
    value = codec.parse(input);
    again = codec.serialize(value).toBytes();
  } catch {
    throw new ArgumentFailure(ArgumentFault.INVALID_BCS_BYTES);
  }
  if (Buffer.compare(again, input) !== 0) throw new ArgumentFailure(ArgumentFault.INVALID_BCS_BYTES);
  return value;
}

function acceptObject(value: MoveValue, type: string): WorkingObject {
  if (value.kind !== "object" || value.object.type !== type) {
    throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
  }
  return value.object;
}

/** A value that the commands of a transaction exchange. */
export type MoveValue =
  | {
      /** A value that is not an object. `type` is undefined for the untyped bytes of a pure input. */
      readonly kind: "data";
      readonly type: string | undefined;
      readonly bytes: Uint8Array;
      readonly copyable: boolean;
      readonly droppable: boolean;
    }
  | { readonly kind: "object"; readonly object: WorkingObject }
  /** A ticket to receive an object that was sent to another object. */
  | { readonly kind: "receiving"; readonly object: WorkingObject }
  | { readonly kind: "objects"; readonly objects: readonly WorkingObject[] };

/** Returns a value with `copy` and `drop`: every primitive, ID and option of those. */
export function plainValue(type: string, bytes: Uint8Array): MoveValue {
  return { kind: "data", type, bytes, copyable: true, droppable: true };
}

export function objectValue(object: WorkingObject): MoveValue {
  return { kind: "object", object };
}
