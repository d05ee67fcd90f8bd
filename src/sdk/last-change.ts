import type { ClientWithCoreApi } from "@mysten/sui/client";
import type { Action } from "./action.ts";

/**
 * Reads the last transaction that wrote an object from one fullnode. It is a hint: a failure counts as a missing
 * answer, because fullnodes prune old transactions.
 */
export async function readLastChange(
  { core }: ClientWithCoreApi,
  { signal }: Action,
  objectId: string,
): Promise<LastChange | undefined> {
  try {
    const include = { previousTransaction: true } as const;
    const { objects } = await core.getObjects({ objectIds: [objectId], include, signal });
    const [object] = objects;
    if (object === undefined || object instanceof Error || !object.previousTransaction) return undefined;
    const digest = object.previousTransaction;
    const found = await core.getTransaction({ digest, include: { events: true }, signal });
    const events = found.Transaction?.events ?? [];
    return { digest, events: events.map(({ eventType: type, bcs }) => ({ type, bcs })) };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

export interface LastChange {
  readonly digest: string;
  readonly events: readonly { readonly type: string; readonly bcs: Uint8Array }[];
}
