import { ServiceError } from "../errors/service-error.ts";
import { parseNetworkEncryptionKey } from "../protocol/chain-objects.ts";
import type { ChainReader } from "../protocol/chain-reader.ts";
import type { ChainNetwork } from "./network.ts";
import type { Read } from "./retry-read.ts";

/**
 * Reads the coordinator's network encryption keys whose DKG has ended, the oldest first. It does not use the Ika
 * client's list, which is filled key by key: a caller could see a part of it while another call still reads.
 */
export async function readNetworkKeys(
  { client, ika }: Pick<ChainNetwork, "client" | "ika">,
  read: Read,
  objects: Pick<ChainReader, "getObjects">,
): Promise<NetworkKey[]> {
  const { coordinatorInner } = await read(() => ika.ensureInitialized());
  const parentId = coordinatorInner.dwallet_network_encryption_keys.id;
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const after: string | null = cursor;
    const page: Awaited<ReturnType<typeof client.core.listDynamicFields>> = await read((signal) =>
      client.core.listDynamicFields({ parentId, cursor: after, signal }),
    );
    for (const { childId } of page.dynamicFields) if (childId) ids.push(childId);
    if (ids.length > MAX_KEY_COUNT)
      throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode lists too many network keys");
    cursor = page.hasNextPage ? page.cursor : null;
  } while (cursor !== null);
  const contents = await objects.getObjects(ids);
  const keys = ids.map((id) => {
    const content = contents.get(id);
    if (content === undefined)
      throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode lists a network key that it lacks");
    return parseNetworkEncryptionKey(content);
  });
  return keys
    .filter(({ stateKind }) => stateKind !== "AwaitingNetworkDKG")
    .map(({ id, dkgAtEpoch }) => ({ id, epoch: Number(dkgAtEpoch) }))
    .sort((a, b) => a.epoch - b.epoch);
}

/** A network encryption key. */
export interface NetworkKey {
  readonly id: string;
  readonly epoch: number;
}

/** A network has a handful of keys. A fullnode that lists more than this never ends its list. */
const MAX_KEY_COUNT = 1_000;
