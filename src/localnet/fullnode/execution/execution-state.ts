import { fromBase58 } from "@mysten/sui/utils";
import { blake2b256 } from "../../../protocol/chain/sui-hash.ts";
import { type ChainObject, Coin, type FieldInfo, type Owner } from "../objects/object.ts";
import { addressOfBytes, SUI_FRAMEWORK, u64Bytes } from "../objects/sui-types.ts";
import { ExecutionError, FailureKind } from "./failures.ts";
import { LIMITS } from "./limits.ts";

/** Creates a state over `lookup` for the transaction with this base58 digest. */
export function createExecutionState(
  lookup: (id: string) => ChainObject | undefined,
  transactionDigest: string,
): ExecutionState {
  const objects = new Map<string, WorkingObject>();
  const entries = new Map<WorkingObject, Entry>();
  const events: EmittedEvent[] = [];
  const funds = new Map<string, FundsChange>();
  const digestBytes = fromBase58(transactionDigest);
  let newIds = 0n;
  const fieldIds = new Set<string>();

  function entryOf(object: WorkingObject): Entry {
    const entry = entries.get(object);
    if (entry === undefined) throw new Error(`object ${object.id} does not belong to this transaction`);
    return entry;
  }

  const state: ExecutionState = {
    events,
    find(id) {
      const known = objects.get(id);
      if (known !== undefined) return known.deleted ? undefined : known;
      const input = lookup(id);
      if (input === undefined) return undefined;
      const object: WorkingObject = {
        id,
        type: input.type,
        owner: input.owner,
        input,
        field: input.field,
        mutated: false,
        deleted: false,
      };
      objects.set(id, object);
      entries.set(object, { bytes: input.contents, codec: undefined, value: undefined });
      return object;
    },
    create(init) {
      const id = init.id ?? state.newId();
      const object: WorkingObject = {
        id,
        type: init.type,
        owner: init.owner,
        // A dynamic field that is removed and added again counts as changed, not as created.
        input: objects.get(id)?.input,
        field: init.field,
        mutated: true,
        deleted: false,
      };
      objects.set(object.id, object);
      entries.set(object, { bytes: init.contents, codec: undefined, value: undefined });
      return object;
    },
    remove(object) {
      object.deleted = true;
    },
    read<T>(object: WorkingObject, codec: Codec<T>): T {
      const entry = entryOf(object);
      if (entry.codec !== codec) {
        entry.value = codec.parse(state.contents(object));
        entry.codec = codec as Codec<unknown>;
      }
      return entry.value as T;
    },
    update<T>(object: WorkingObject, codec: Codec<T>, change: (value: T) => void) {
      change(state.read(object, codec));
      entryOf(object).bytes = undefined;
      object.mutated = true;
    },
    contents(object) {
      const entry = entryOf(object);
      if (entry.bytes === undefined)
        entry.bytes = (entry.codec as Codec<unknown>).serialize(entry.value).toBytes();
      return entry.bytes;
    },
    newId() {
      if (newIds >= BigInt(LIMITS.newIds)) {
        throw new ExecutionError(FailureKind.MOVE_PRIMITIVE_RUNTIME_ERROR, "too many new object ids");
      }
      return addressOfBytes(blake2b256(Uint8Array.of(OBJECT_ID_INTENT), digestBytes, u64Bytes(newIds++)));
    },
    emit(event) {
      if (events.length >= LIMITS.events) {
        throw new ExecutionError(FailureKind.MOVE_PRIMITIVE_RUNTIME_ERROR, "too many events emitted");
      }
      if (event.contents.length > LIMITS.eventBytes) {
        throw new ExecutionError(FailureKind.MOVE_PRIMITIVE_RUNTIME_ERROR, "event is too large");
      }
      events.push(event);
    },
    countField(id) {
      fieldIds.add(id);
      if (fieldIds.size > LIMITS.dynamicFields) {
        throw new ExecutionError(
          FailureKind.MOVE_PRIMITIVE_RUNTIME_ERROR,
          `Object runtime store limit exceeded: ${SUI_FRAMEWORK}::dynamic_field`,
        );
      }
    },
    touched: () => objects.values(),
    changeFunds(address, coinType, amount) {
      const key = `${address} ${coinType}`;
      funds.set(key, { address, coinType, amount: (funds.get(key)?.amount ?? 0n) + amount });
    },
    funds: () => [...funds.values()].filter(({ amount }) => amount !== 0n),
  };
  return state;
}

/** The part of a BCS type that reads and writes objects. */
export interface Codec<T> {
  parse(bytes: Uint8Array): T;
  serialize(value: NoInfer<T>): { toBytes(): Uint8Array };
}

/** An object as one transaction sees and changes it. */
export interface WorkingObject {
  readonly id: string;
  readonly type: string;
  /** Undefined while the transaction holds the object. In the end, the object must have an owner or be deleted. */
  owner: Owner | undefined;
  /** The version before the transaction; undefined if there was none. */
  readonly input: ChainObject | undefined;
  field: FieldInfo | undefined;
  mutated: boolean;
  deleted: boolean;
}

export interface EmittedEvent {
  readonly packageId: string;
  readonly module: string;
  readonly type: string;
  readonly contents: Uint8Array;
}

/** The reads and writes of one transaction. Nothing reaches the store before the commit. */
export interface ExecutionState {
  readonly events: readonly EmittedEvent[];
  find(id: string): WorkingObject | undefined;
  create(init: NewObject): WorkingObject;
  remove(object: WorkingObject): void;
  /** Returns the decoded contents, which are decoded once per transaction and shared by all readers. */
  read<T>(object: WorkingObject, codec: Codec<T>): T;
  /** Changes the decoded contents in place. They are encoded once, at the end of the transaction. */
  update<T>(object: WorkingObject, codec: Codec<T>, change: (value: T) => void): void;
  contents(object: WorkingObject): Uint8Array;
  newId(): string;
  emit(event: EmittedEvent): void;
  /** Counts a dynamic field, or the object in it, once. The protocol limits how many a transaction uses. */
  countField(id: string): void;
  touched(): Iterable<WorkingObject>;
  /** Adds to the change of an address's balance outside of coins. The settlement applies it after the transaction. */
  changeFunds(address: string, coinType: string, amount: bigint): void;
  /** The changes that are not zero: one for each address and coin type, as in the effects on Sui. */
  funds(): readonly FundsChange[];
}

/** The change of an address's balance of one coin type outside of coins; below zero for a withdrawal. */
export interface FundsChange {
  readonly address: string;
  readonly coinType: string;
  readonly amount: bigint;
}

/** An object to create. Without an owner, the transaction holds it. */
export interface NewObject {
  readonly id?: string;
  readonly type: string;
  readonly contents: Uint8Array;
  readonly owner?: Owner;
  readonly field?: FieldInfo;
}

/** Sui hashes the ids of new objects under this prefix. */
const OBJECT_ID_INTENT = 0xf1;

interface Entry {
  bytes: Uint8Array | undefined;
  codec: Codec<unknown> | undefined;
  value: unknown;
}

/** Returns the balance of a coin in a transaction. */
export function balanceOf(state: ExecutionState, coin: WorkingObject): bigint {
  return BigInt(state.read(coin, Coin).balance);
}

/** Sets the balance of a coin in a transaction. */
export function setBalance(state: ExecutionState, coin: WorkingObject, balance: bigint): void {
  state.update(coin, Coin, (value) => {
    value.balance = balance.toString();
  });
}

/** Creates a coin of an object type `0x2::coin::Coin<T>`, which the transaction holds. */
export function createCoin(state: ExecutionState, objectType: string, balance: bigint): WorkingObject {
  const id = state.newId();
  return state.create({ id, type: objectType, contents: Coin.serialize({ id, balance }).toBytes() });
}
