import type { SuiClientTypes } from "@mysten/sui/client";
import type { LandedTransaction } from "./operation.ts";
import type { OwnedRef } from "./treasury/treasury-calls.ts";

/** The outcome of a transaction that the fullnode knows. */
export type TransactionOutcome =
  | (Executed & { readonly kind: "landed"; readonly transaction: LandedTransaction })
  | (Executed & { readonly kind: "aborted"; readonly error: ExecutionFailure });

/** The effects of an execution, even of a failed one. */
export interface Executed {
  readonly gasUsedMist: bigint;
  readonly changes: ObjectChanges;
}

/** The failure of a transaction. */
export interface ExecutionFailure {
  readonly message: string;
  readonly abort?: { readonly module: string; readonly code: number };
  readonly kind: string;
}

/** The object versions that a transaction used and wrote. */
export interface ObjectChanges {
  readonly inputVersions: ReadonlyMap<string, string>;
  /** The written versions, by object id. */
  readonly written: ReadonlyMap<string, OwnedRef>;
  /** The owners of the written objects, by object id. Objects that no address owns are absent. */
  readonly owners: ReadonlyMap<string, string>;
  /** The ids of deleted objects, including merged coins. */
  readonly deleted: readonly string[];
  /** The digests of the transactions that wrote its inputs. */
  readonly dependencies: readonly string[];
}

/** A fullnode's reply with the fields that {@link toOutcome} reads. */
export type TransactionResult = SuiClientTypes.TransactionResult<{ effects: true; events: true }>;

/** Returns the outcome from a fullnode's reply to an execution or a look-up. */
export function toOutcome(result: TransactionResult): TransactionOutcome {
  const transaction = result.Transaction ?? result.FailedTransaction;
  const gas = transaction.effects.gasUsed;
  const gasUsedMist = BigInt(gas.computationCost) + BigInt(gas.storageCost) - BigInt(gas.storageRebate);
  const executed = { gasUsedMist, changes: toChanges(transaction.effects) };
  if (transaction.status.success) {
    const events = transaction.events.map((event) => ({ type: event.eventType, bcs: event.bcs }));
    const { digest, effects } = transaction;
    const version = BigInt(effects.lamportVersion ?? 0);
    return { kind: "landed", transaction: { digest, version, events }, ...executed };
  }
  return { kind: "aborted", error: toFailure(transaction.status.error), ...executed };
}

/** Returns the objects in a transaction's effects. */
export function toChanges({
  changedObjects,
  dependencies,
}: SuiClientTypes.TransactionEffects): ObjectChanges {
  const inputVersions = new Map<string, string>();
  const written = new Map<string, OwnedRef>();
  const owners = new Map<string, string>();
  const deleted: string[] = [];
  for (const change of changedObjects) {
    const { objectId, inputVersion, outputState, outputVersion, outputDigest, outputOwner } = change;
    if (outputOwner?.AddressOwner) owners.set(objectId, outputOwner.AddressOwner);
    if (inputVersion !== null) inputVersions.set(objectId, inputVersion);
    if (outputState === "DoesNotExist") deleted.push(objectId);
    else if (outputVersion !== null && outputDigest !== null)
      written.set(objectId, { objectId, version: outputVersion, digest: outputDigest });
  }
  return { inputVersions, written, owners, deleted, dependencies };
}

/** Returns the failure of a real or simulated execution. */
export function toFailure(error: {
  message: string;
  $kind: string;
  MoveAbort?: { abortCode: string; location?: { module?: string } };
}): ExecutionFailure {
  const { message, $kind: kind, MoveAbort: abort } = error;
  if (!abort) return { message, kind };
  return { message, kind, abort: { module: abort.location?.module ?? "", code: Number(abort.abortCode) } };
}
