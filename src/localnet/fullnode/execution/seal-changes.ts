import type { GrpcTypes } from "@mysten/sui/grpc";
import { type ChainObject, coinBalance, type Owner, PACKAGE_TYPE, sealObject } from "../objects/object.ts";
import { coinTypeOf } from "../objects/sui-types.ts";
import type { ObjectChange } from "./effects.ts";
import type { ExecutionState, FundsChange } from "./execution-state.ts";
import { ExecutionError, FailureKind } from "./failures.ts";
import { storageCostOf } from "./gas.ts";
import { LIMITS } from "./limits.ts";
import { CommandFailure } from "./slots.ts";

/** Returns the changes of all objects that a transaction touched, except those that it created and deleted again. */
export function sealChanges(state: ExecutionState, version: bigint, digest: string): ObjectChange[] {
  const changes: ObjectChange[] = [];
  for (const object of state.touched()) {
    const { id, type, input: before } = object;
    if (object.deleted) {
      if (before !== undefined) changes.push({ id, type, before, after: undefined });
    } else if (object.mutated) {
      if (object.owner === undefined) throw new Error(`object ${id} of type ${type} has no owner`);
      const contents = state.contents(object);
      const after = sealObject({
        id,
        version: type === PACKAGE_TYPE ? FIRST_PACKAGE_VERSION : version,
        owner: before === undefined ? ownedSince(object.owner, version) : object.owner,
        type,
        contents,
        previousTransaction: digest,
        storageRebate: storageCostOf(contents),
        field: object.field,
      });
      changes.push({ id, type, before, after });
    }
  }
  return changes;
}

/** A package has its own version counter. */
const FIRST_PACKAGE_VERSION = 1n;

/** An object that a transaction shares is shared since the version that the transaction writes. */
function ownedSince(owner: Owner, version: bigint): Owner {
  return owner.kind === "shared" ? { kind: "shared", initialVersion: version } : owner;
}

/** Fails the last command if an object exceeds the protocol's size limit. */
export function refuseLargeObjects(state: ExecutionState, commandCount: number): void {
  for (const object of state.touched()) {
    if (!object.mutated || object.deleted) continue;
    const size = state.contents(object).length;
    if (size <= LIMITS.objectBytes) continue;
    const failure = new ExecutionError(
      FailureKind.OBJECT_TOO_BIG,
      `Move object with size ${size} is larger than the maximum object size ${LIMITS.objectBytes}`,
      {
        kind: "size",
        size,
        maxSize: LIMITS.objectBytes,
      },
    );
    throw new CommandFailure(failure, Math.max(0, commandCount - 1));
  }
}

/**
 * Returns the balance change of each address by coin type, over the coins that it owns and its balance outside of
 * coins. Omits zero changes. Source: `derive_balance_changes_2` in `sui-types/src/balance_change.rs`.
 */
export function balanceChanges(
  changes: readonly ObjectChange[],
  funds: readonly FundsChange[],
): GrpcTypes.BalanceChange[] {
  const totals = new Map<string, { address: string; coinType: string; amount: bigint }>();
  for (const { before, after } of changes) {
    count(before, -1n);
    count(after, 1n);
  }
  for (const { address, coinType, amount } of funds) add(address, coinType, amount);
  return [...totals.values()]
    .filter((total) => total.amount !== 0n)
    .map(({ address, coinType, amount }) => ({ address, coinType, amount: amount.toString() }));

  function count(object: ChainObject | undefined, sign: bigint): void {
    if (object?.owner.kind !== "address") return;
    const coinType = coinTypeOf(object.type);
    if (coinType === undefined) return;
    add(object.owner.address, coinType, sign * coinBalance(object.contents));
  }

  function add(address: string, coinType: string, amount: bigint): void {
    const key = `${address} ${coinType}`;
    const total = totals.get(key) ?? { address, coinType, amount: 0n };
    total.amount += amount;
    totals.set(key, total);
  }
}
