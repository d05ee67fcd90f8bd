import { bcs } from "@mysten/sui/bcs";
import { deriveDynamicFieldID } from "@mysten/sui/utils";
import { MalformedBytesError } from "./bytes.ts";
import { parseStruct } from "./chain-objects.ts";
import {
  ChunkField,
  CoordinatorInnerHead,
  DWalletCoordinator,
  ObjectTableEntry,
  ReconfigurationField,
} from "./chain-structs.ts";

/**
 * The path on the chain from Ika's coordinator to the output of a network encryption key. Each id is derived from the
 * previous one, as Sui derives the ids of dynamic fields, so the reader need not trust a list from a fullnode.
 * Each parser throws MalformedBytesError for bytes of another layout.
 */

const OBJECT_TABLE_KEY = "0x2::dynamic_object_field::Wrapper<0x2::object::ID>";

/** Returns the id of the coordinator's state object, from the content of `coordinator::DWalletCoordinator`. */
export function coordinatorInnerId(coordinatorId: string, content: Uint8Array): string {
  const { version } = parseStruct("coordinator", DWalletCoordinator, content);
  return deriveDynamicFieldID(coordinatorId, "u64", bcs.u64().serialize(version).toBytes());
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
  return deriveDynamicFieldID(tableId, OBJECT_TABLE_KEY, bcs.Address.serialize(objectId).toBytes());
}

/** Returns the id of the object in a table entry. */
export function tableEntryObjectId(content: Uint8Array): string {
  return parseStruct("table entry", ObjectTableEntry, content).value;
}

/** Returns the id of one chunk of a `TableVec`, or of the reconfiguration output of one epoch. */
export function numberedEntryId(tableId: string, index: number | bigint): string {
  return deriveDynamicFieldID(tableId, "u64", bcs.u64().serialize(index).toBytes());
}

/** Returns the location of a reconfiguration output's chunks. */
export function reconfigurationChunks(content: Uint8Array): OutputChunks {
  const { id, size } = parseStruct("reconfiguration output", ReconfigurationField, content).output;
  return { tableId: id, count: BigInt(size) };
}

/** The table that stores an output, and its number of chunks. */
export interface OutputChunks {
  readonly tableId: string;
  readonly count: bigint;
}

/** Returns the bytes of a chunk. */
export function chunkBytes(content: Uint8Array): Uint8Array {
  return parseStruct("chunk", ChunkField, content).value;
}
