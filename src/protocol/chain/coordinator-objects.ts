import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { concatBytes } from "@noble/hashes/utils.js";
import { MalformedBytesError } from "../bytes.ts";
import { type ChainNetworkEncryptionKey, parseStruct } from "./chain-objects.ts";
import {
  ChunkField,
  CoordinatorInnerHead,
  DWalletCoordinator,
  ObjectTableEntry,
  ReconfigurationField,
} from "./chain-structs.ts";
import { Address, U64 } from "./fast-bcs.ts";

/**
 * The path on the chain from Ika's coordinator to the output of a network encryption key. Each id is derived from the
 * previous one, as Sui derives the ids of dynamic fields, so the reader need not trust a list from a fullnode.
 * Each parser throws MalformedBytesError for bytes of another layout.
 */

const OBJECT_TABLE_KEY = "0x2::dynamic_object_field::Wrapper<0x2::object::ID>";

/** Returns the id of the coordinator's state object, from the content of `coordinator::DWalletCoordinator`. */
export function coordinatorInnerId(coordinatorId: string, content: Uint8Array): string {
  const { version } = parseStruct("coordinator", DWalletCoordinator, content);
  return deriveDynamicFieldID(coordinatorId, "u64", U64.serialize(version).toBytes());
}

/** Returns the id of the table of network encryption keys, from the content of the coordinator's state. */
export function networkKeysTableId(innerContent: Uint8Array): string {
  return parseInnerHead(innerContent).dwallet_network_encryption_keys.id;
}

/** Returns the network's current epoch, from the content of the coordinator's state. */
export function currentEpoch(innerContent: Uint8Array): bigint {
  return BigInt(parseInnerHead(innerContent).current_epoch);
}

function parseInnerHead(innerContent: Uint8Array) {
  try {
    return CoordinatorInnerHead.parse(innerContent);
  } catch {
    throw new MalformedBytesError("coordinator state: not the chain's layout");
  }
}

/** Returns the id of the entry that proves that the `ObjectTable` contains this object. */
export function tableEntryId(tableId: string, objectId: string): string {
  return deriveDynamicFieldID(tableId, OBJECT_TABLE_KEY, Address.serialize(objectId).toBytes());
}

/** Returns the id of the object in a table entry. */
export function tableEntryObjectId(content: Uint8Array): string {
  return parseStruct("table entry", ObjectTableEntry, content).value;
}

/** Returns the id of one chunk of a `TableVec`, or of the reconfiguration output of one epoch. */
export function numberedEntryId(tableId: string, index: number | bigint): string {
  return deriveDynamicFieldID(tableId, "u64", U64.serialize(index).toBytes());
}

/** Returns the location of a reconfiguration output's chunks. */
function reconfigurationChunks(content: Uint8Array): OutputChunks {
  const { id, size } = parseStruct("reconfiguration output", ReconfigurationField, content).output;
  return { tableId: id, count: BigInt(size) };
}

/** The table that stores an output, and its number of chunks. */
interface OutputChunks {
  readonly tableId: string;
  readonly count: bigint;
}

/** Returns the bytes of a chunk. */
function chunkBytes(content: Uint8Array): Uint8Array {
  return parseStruct("chunk", ChunkField, content).value;
}

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
type ReadKeyObjects = (
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
