import type { SuiClientTypes } from "@mysten/sui/client";
import type { LandedTransaction } from "./operation.ts";
import type { OwnedRef } from "./treasury/treasury-calls.ts";

/** The outcome of a transaction that the fullnode knows. */
export type TransactionOutcome =
  | (Executed & { readonly kind: "landed"; readonly transaction: LandedTransaction })
  | (Executed & { readonly kind: "aborted"; readonly error: ExecutionFailure });

/** What every execution did, a failed one too. */
export interface Executed {
  readonly gasUsedMist: bigint;
  readonly changes: ObjectChanges;
}

/** Why the chain did not do what a transaction asked for. */
export interface ExecutionFailure {
  readonly message: string;
  readonly abort?: { readonly module: string; readonly code: number };
  readonly kind: string;
}

/** Which versions of which objects a transaction took and wrote. */
export interface ObjectChanges {
  readonly inputVersions: ReadonlyMap<string, string>;
  /** What it wrote, by object id. */
  readonly written: ReadonlyMap<string, OwnedRef>;
  /** The addresses that own what it wrote, by object id; without what no address owns. */
  readonly owners: ReadonlyMap<string, string>;
  /** The ids of what it deleted, merged coins among them. */
  readonly deleted: readonly string[];
  /** The transactions that wrote what it took. */
  readonly dependencies: readonly string[];
}

/** A reply of the fullnode with all that {@link toOutcome} reads. */
export type TransactionResult = SuiClientTypes.TransactionResult<{ effects: true; events: true }>;

/** The outcome in a fullnode's reply, executed or looked up. */
export function toOutcome(result: TransactionResult): TransactionOutcome {
  const transaction = result.Transaction ?? result.FailedTransaction;
  const gas = transaction.effects.gasUsed;
  const gasUsedMist = BigInt(gas.computationCost) + BigInt(gas.storageCost) - BigInt(gas.storageRebate);
  const executed = { gasUsedMist, changes: toChanges(transaction.effects) };
  if (transaction.status.success) {
    const events = transaction.events.map((event) => ({ type: event.eventType, bcs: event.bcs }));
    return { kind: "landed", transaction: { digest: transaction.digest, events }, ...executed };
  }
  return { kind: "aborted", error: toFailure(transaction.status.error), ...executed };
}

/** The objects in a transaction's effects. */
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

/** What the chain says of a failed execution, real or simulated. */
export function toFailure(error: {
  message: string;
  $kind: string;
  MoveAbort?: { abortCode: string; location?: { module?: string } };
}): ExecutionFailure {
  const { message, $kind: kind, MoveAbort: abort } = error;
  if (!abort) return { message, kind };
  return { message, kind, abort: { module: abort.location?.module ?? "", code: Number(abort.abortCode) } };
}
