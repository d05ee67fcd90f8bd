import { concatBytes } from "@noble/hashes/utils.js";
import type { ChainNetworkEncryptionKey } from "./chain-objects.ts";
import {
  chunkBytes,
  numberedEntryId,
  type OutputChunks,
  reconfigurationChunks,
} from "./coordinator-objects.ts";

/**
 * Reads the outputs of a network encryption key, the newest first: the output of the newest reconfiguration, if there
 * is one, and that of the key's DKG. Ignores the output for the next epoch, which may still be incomplete.
 *
 * A fullnode that lags behind does no harm, because all outputs of a key have the same content. Throws
 * {@link KeyOutputError}, and MalformedBytesError for objects of another layout.
 */
export async function readKeyOutputs(
  key: ChainNetworkEncryptionKey,
  epoch: bigint,
  read: ReadKeyObjects,
): Promise<Uint8Array[]> {
  const { networkDkgOutputTableId: tableId, networkDkgOutputChunkCount: count } = key;
  if (count === 0n) throw new KeyOutputError("the network encryption key has no output yet");
  const newest = await newestReconfiguration(key.reconfigurationOutputsTableId, epoch, read);
  const outputs: Uint8Array[] = [];
  if (newest !== undefined) outputs.push(await readOutput(newest, read));
  outputs.push(await readOutput({ tableId, count }, read));
  return outputs;
}

/** Thrown for a key whose output is absent, incomplete or too large. */
export class KeyOutputError extends Error {
  override readonly name = "KeyOutputError";
}

/**
 * Reads the contents of objects by id. The result omits objects that do not exist. All objects of one call have the
 * same sort: entries of a table of reconfiguration outputs, or chunks of an output.
 */
export type ReadKeyObjects = (
  sort: "reconfiguration" | "chunk",
  objectIds: readonly string[],
) => Promise<ReadonlyMap<string, Uint8Array>>;

/** The largest output that is read. The output of 115 parties is expected to be under 1 MiB. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** The network writes chunks of 5 KiB. */
const MAX_CHUNK_COUNT = MAX_OUTPUT_BYTES / (4 * 1024);
const BATCH_COUNT = 50;
/** The number of epochs to search. Every epoch has an output from a key's second epoch on, but one may be missing. */
const RECENT_EPOCH_COUNT = 8;

async function newestReconfiguration(
  tableId: string,
  epoch: bigint,
  read: ReadKeyObjects,
): Promise<OutputChunks | undefined> {
  const ids: string[] = [];
  for (let of = epoch; of >= 0n && ids.length < RECENT_EPOCH_COUNT; of--)
    ids.push(numberedEntryId(tableId, of));
  const found = await read("reconfiguration", ids);
  const newest = ids.find((id) => found.has(id));
  return newest === undefined ? undefined : reconfigurationChunks(found.get(newest)!);
}

async function readOutput({ tableId, count }: OutputChunks, read: ReadKeyObjects): Promise<Uint8Array> {
  if (count > MAX_CHUNK_COUNT) throw tooLarge();
  const ids = Array.from({ length: Number(count) }, (_, index) => numberedEntryId(tableId, index));
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for (let start = 0; start < ids.length; start += BATCH_COUNT) {
    const batch = ids.slice(start, start + BATCH_COUNT);
    const found = await read("chunk", batch);
    for (const id of batch) {
      const chunk = found.get(id);
      if (chunk === undefined)
        throw new KeyOutputError("the chain lacks a part of the network encryption key's output");
      chunks.push(chunkBytes(chunk));
      sizeBytes += chunk.length;
    }
    if (sizeBytes > MAX_OUTPUT_BYTES) throw tooLarge();
  }
  return concatBytes(...chunks);
}

function tooLarge(): KeyOutputError {
  return new KeyOutputError("the network encryption key's output is too large");
}
