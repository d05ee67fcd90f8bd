import { bcs } from "@mysten/sui/bcs";
import type { ClientWithCoreApi } from "@mysten/sui/client";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import {
  type ChainDWallet,
  isDkgRequestEvent,
  parseDkgRequestEvent,
} from "../../../protocol/chain/chain-objects.ts";
import { digestOfPreimage } from "../../../protocol/chain/session-identifier.ts";
import type { Action } from "../action.ts";

/**
 * Creates a source that reads the digest from the DKG's request event. The transaction that requested a DKG also put
 * the encrypted share into the dWallet's table. Nothing writes that entry again, so the entry names the transaction.
 * Fullnodes prune old transactions. The digest is a hint that the caller checks, so one fullnode is enough, and its
 * failure counts as a missing answer.
 */
export function createChainSessionSource(
  suiClient: (action: Action) => Promise<ClientWithCoreApi>,
): ChainSessionSource {
  return async (action, dwallet, encryptedUserSecretKeyShareId) => {
    const { signal } = action;
    try {
      const { core } = await suiClient(action);
      const name = bcs.Address.serialize(encryptedUserSecretKeyShareId).toBytes();
      const entryId = deriveDynamicFieldID(dwallet.encryptedShareTableId, TABLE_NAME_TYPE, name);
      const include = { previousTransaction: true } as const;
      const { objects } = await core.getObjects({ objectIds: [entryId], include, signal });
      const [entry] = objects;
      if (entry === undefined || entry instanceof Error || !entry.previousTransaction) return undefined;
      const digest = entry.previousTransaction;
      const found = await core.getTransaction({ digest, include: { events: true }, signal });
      for (const event of found.Transaction?.events ?? []) {
        if (!isDkgRequestEvent(event.eventType)) continue;
        const { dwalletId, preimage } = parseDkgRequestEvent(event.bcs);
        if (dwalletId === dwallet.id) return digestOfPreimage(preimage);
      }
      return undefined;
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  };
}

/** Finds the digest of a DKG's session identifier on the chain. Returns undefined when the fullnode has pruned it. */
export type ChainSessionSource = (
  action: Action,
  dwallet: Pick<ChainDWallet, "id" | "encryptedShareTableId">,
  encryptedUserSecretKeyShareId: string,
) => Promise<Uint8Array | undefined>;

/** The type of the keys of an `ObjectTable<ID, _>`. */
const TABLE_NAME_TYPE = "0x2::dynamic_object_field::Wrapper<0x2::object::ID>";

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
