import { bcs } from "@mysten/sui/bcs";
import type { ClientWithCoreApi } from "@mysten/sui/client";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type ChainDWallet,
  isDkgRequestEvent,
  parseDkgRequestEvent,
} from "../../../protocol/chain/chain-objects.ts";
import { digestOfPreimage } from "../../../protocol/chain/session-identifier.ts";
import type { Action } from "../action.ts";

/**
 * Creates a source that reads digests from the DKG's request event. The transaction that requested a DKG also put
 * the encrypted share into the dWallet's table. Nothing writes that entry again, so the entry names the transaction.
 * Fullnodes prune old transactions, so it asks one after another. A digest is a hint that the caller checks, and a
 * fullnode's failure counts as a missing answer. A fullnode names at most one digest, and none is named twice, so a lie
 * costs the caller one check and hides nothing that an honest fullnode knows.
 */
export function createChainSessionSource(
  suiClients: (action: Action) => Promise<readonly ClientWithCoreApi[]>,
): ChainSessionSource {
  return async function* (action, dwallet, encryptedUserSecretKeyShareId) {
    const name = bcs.Address.serialize(encryptedUserSecretKeyShareId).toBytes();
    const entryId = deriveDynamicFieldID(dwallet.encryptedShareTableId, TABLE_NAME_TYPE, name);
    const named = new Set<string>();
    for (const client of await suiClients(action)) {
      const change = await readLastChange(client, action, entryId);
      const request = change?.events
        .map(({ type, bcs: content }) => readDkgRequest(type, content))
        .find((event) => event?.dwalletId === dwallet.id);
      if (request === undefined) continue;
      const digest = digestOfPreimage(request.preimage);
      const hex = bytesToHex(digest);
      if (named.has(hex)) continue;
      named.add(hex);
      yield digest;
    }
  };
}

/** Returns the session and the dWallet of a DKG request event; undefined for other events. */
function readDkgRequest(
  type: string,
  content: Uint8Array,
): ReturnType<typeof parseDkgRequestEvent> | undefined {
  try {
    return isDkgRequestEvent(type) ? parseDkgRequestEvent(content) : undefined;
  } catch {
    return undefined;
  }
}

/** Yields what the fullnodes name as the digest of a DKG's session identifier; nothing when all have pruned it. */
export type ChainSessionSource = (
  action: Action,
  dwallet: Pick<ChainDWallet, "id" | "encryptedShareTableId">,
  encryptedUserSecretKeyShareId: string,
) => AsyncIterable<Uint8Array>;

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
