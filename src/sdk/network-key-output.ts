import { concatBytes, MalformedBytesError } from "../protocol/bytes.ts";
import { parseNetworkEncryptionKey } from "../protocol/chain-objects.ts";
import {
  chunkBytes,
  chunkId,
  coordinatorInnerId,
  networkKeysTableId,
  tableEntryId,
  tableEntryObjectId,
} from "../protocol/coordinator-objects.ts";
import type { Action } from "./action.ts";
import { TssError } from "./errors.ts";
import {
  COORDINATOR,
  COORDINATOR_INNER,
  NETWORK_KEY,
  NETWORK_KEY_ENTRY,
  type ObjectKind,
  OUTPUT_CHUNK,
} from "./object-kinds.ts";
import type { TrustedChain } from "./trusted-chain.ts";

/** The largest output: one of 115 parties is expected to be under 1 MiB. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** The network writes chunks of 5 KiB. */
const MAX_CHUNK_COUNT = MAX_OUTPUT_BYTES / (4 * 1024);
/** How many chunks are read at once. */
const BATCH_COUNT = 50;

/**
 * The public output of a network encryption key's DKG. The key must be one of the coordinator's own, for this curve
 * (the chain's integer), whoever named its id. Throws PARAMETERS_MISMATCH when it is not, or its output is too large;
 * NETWORK_UNSUPPORTED when the coordinator is of a form that this client cannot read.
 */
export async function readNetworkKeyOutput(
  chain: TrustedChain,
  action: Action,
  networkKeyId: string,
  curveNumber: number,
): Promise<Uint8Array> {
  const content = await readNetworkKey(chain, action, networkKeyId);
  const key = supported(() => parseNetworkEncryptionKey(content));
  if (!key.supportedCurveNumbers.includes(curveNumber)) {
    throw mismatch("the network encryption key is not for this curve");
  }
  const { networkDkgOutputTableId: tableId, networkDkgOutputChunkCount: chunkCount } = key;
  if (chunkCount === 0n) throw mismatch("the network encryption key has no output yet");
  if (chunkCount > MAX_CHUNK_COUNT) throw mismatch("the network encryption key's output is too large");
  const ids = Array.from({ length: Number(chunkCount) }, (_, index) => chunkId(tableId, index));
  const reader = await chain.reader(action, OUTPUT_CHUNK);
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for (let start = 0; start < ids.length; start += BATCH_COUNT) {
    const batch = ids.slice(start, start + BATCH_COUNT);
    const found = await reader.getObjects(batch, action.signal);
    for (const id of batch) {
      const chunk = found.get(id);
      if (chunk === undefined)
        throw mismatch("the chain lacks a part of the network encryption key's output");
      chunks.push(supported(() => chunkBytes(chunk)));
      sizeBytes += chunk.length;
    }
    if (sizeBytes > MAX_OUTPUT_BYTES) throw mismatch("the network encryption key's output is too large");
  }
  return concatBytes(...chunks);
}

/** The key's contents, once the coordinator's own table has it. */
async function readNetworkKey(
  chain: TrustedChain,
  action: Action,
  networkKeyId: string,
): Promise<Uint8Array> {
  const read = async (kind: ObjectKind, objectId: string): Promise<Uint8Array | undefined> =>
    (await (await chain.reader(action, kind)).getObjects([objectId], action.signal)).get(objectId);
  const { objectId: coordinatorId } = (await chain.ids(action)).ikaDwalletCoordinator;
  const coordinator = await read(COORDINATOR, coordinatorId);
  if (coordinator === undefined) throw new TssError("NETWORK_MISMATCH", "the chain has no Ika coordinator");
  const innerId = supported(() => coordinatorInnerId(coordinatorId, coordinator));
  const inner = await read(COORDINATOR_INNER, innerId);
  if (inner === undefined) throw unsupported();
  const tableId = supported(() => networkKeysTableId(inner));
  const [entry, key] = await Promise.all([
    read(NETWORK_KEY_ENTRY, tableEntryId(tableId, networkKeyId)),
    read(NETWORK_KEY, networkKeyId),
  ]);
  if (entry === undefined || key === undefined || tableEntryObjectId(entry) !== networkKeyId) {
    throw mismatch("the chain has no network encryption key with this id");
  }
  return key;
}

/** A parsed value. The types of all objects were checked, so another layout means that Ika has changed it. */
function supported<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof MalformedBytesError ? unsupported(error) : error;
  }
}

function unsupported(cause?: unknown): TssError {
  return new TssError(
    "NETWORK_UNSUPPORTED",
    "the chain has a form of Ika's objects that this client cannot read",
    {
      cause,
    },
  );
}

function mismatch(message: string): TssError {
  return new TssError("PARAMETERS_MISMATCH", message);
}
