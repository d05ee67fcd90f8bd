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
 * The way on the chain from Ika's coordinator to the output of a network encryption key. Every id on it is derived from
 * the one before, as Sui derives the ids of dynamic fields, so that no list has to be believed.
 * Each parser throws MalformedBytesError for other bytes.
 */

const OBJECT_TABLE_KEY = "0x2::dynamic_object_field::Wrapper<0x2::object::ID>";

/** The object that holds the coordinator's state, by the contents of `coordinator::DWalletCoordinator`. */
export function coordinatorInnerId(coordinatorId: string, content: Uint8Array): string {
  const { version } = parseStruct("coordinator", DWalletCoordinator, content);
  return deriveDynamicFieldID(coordinatorId, "u64", bcs.u64().serialize(version).toBytes());
}

/** The table of the network's encryption keys, by the contents of the coordinator's state. */
export function networkKeysTableId(innerContent: Uint8Array): string {
  return parseInnerHead(innerContent).dwallet_network_encryption_keys.id;
}

/** The network's epoch, by the contents of the coordinator's state. */
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

/** The object that says that a table of objects has this one. */
export function tableEntryId(tableId: string, objectId: string): string {
  return deriveDynamicFieldID(tableId, OBJECT_TABLE_KEY, bcs.Address.serialize(objectId).toBytes());
}

/** The object that a table's entry names. */
export function tableEntryObjectId(content: Uint8Array): string {
  return parseStruct("table entry", ObjectTableEntry, content).value;
}

/** The object that holds one chunk of a `TableVec`, or the reconfiguration output of one epoch. */
export function numberedEntryId(tableId: string, index: number | bigint): string {
  return deriveDynamicFieldID(tableId, "u64", bcs.u64().serialize(index).toBytes());
}

/** The table of a reconfiguration output's chunks, and how many it has. */
export function reconfigurationChunks(content: Uint8Array): OutputChunks {
  const { id, size } = parseStruct("reconfiguration output", ReconfigurationField, content).output;
  return { tableId: id, count: BigInt(size) };
}

/** Where an output is. */
export interface OutputChunks {
  readonly tableId: string;
  readonly count: bigint;
}

/** The bytes of a chunk. */
export function chunkBytes(content: Uint8Array): Uint8Array {
  return parseStruct("chunk", ChunkField, content).value;
}
