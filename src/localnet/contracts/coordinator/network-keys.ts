import { bcs } from "@mysten/sui/bcs";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { blake2b256 } from "../../../protocol/chain/sui-hash.ts";
import type { ExecutionState } from "../../fullnode/execution/execution-state.ts";
import { fieldParts, idName, objectFieldParts, u64Name } from "../../fullnode/objects/dynamic-fields.ts";
import type { ObjectStore } from "../../fullnode/objects/object-store.ts";
import { u64Bytes } from "../../fullnode/objects/sui-types.ts";
import {
  type GenesisObject,
  genesisId,
  type NetworkAddresses,
  type NetworkKeyOutputs,
} from "../addresses.ts";
import { coordinatorTypes, NetworkEncryptionKeyStruct, updateInner } from "./coordinator-state.ts";
import { SUPPORTED_CURVES } from "./support.ts";

/** The network stores outputs in chunks of this size. */
const CHUNK_BYTES = 5 * 1024;

/** A network encryption key to write to the chain. */
export interface NewNetworkKey {
  /** The network's seed, from which all ids are derived. */
  readonly seed: Uint8Array;
  readonly addresses: NetworkAddresses;
  /** 0 for the genesis key. */
  readonly index: number;
  readonly dkgPublicOutput: Uint8Array;
  readonly epoch: bigint;
  /** Undefined for a key that has had no reconfiguration. */
  readonly reconfiguration?: Reconfiguration | undefined;
}

export interface Reconfiguration {
  readonly epoch: bigint;
  readonly publicOutput: Uint8Array;
}

/** Returns the id of the table of all network encryption keys. */
export function genesisNetworkKeysTableId(seed: Uint8Array): string {
  return genesisId(seed, "coordinator/network-encryption-keys");
}

/** Returns the id of the network's n-th encryption key. */
export function networkKeyId(seed: Uint8Array, index: number): string {
  return genesisId(seed, `network-encryption-key${index === 0 ? "" : `/${index}`}`);
}

/** Returns the 32-byte seed of the network's n-th key and of all shares under it. */
export function networkKeySeed(seed: Uint8Array, index: number): Uint8Array {
  return index === 0
    ? seed
    : blake2b256(utf8ToBytes("ika-localnet/network-key/"), seed, u64Bytes(BigInt(index)));
}

/** Returns the number of network encryption keys on the chain. */
export function networkKeyCount(objects: ObjectStore, seed: Uint8Array): number {
  return objects.fields(genesisNetworkKeysTableId(seed)).length;
}

/** Returns the index of a network key. Throws if the chain does not have it. */
export function networkKeyIndex(objects: ObjectStore, seed: Uint8Array, keyId: string): number {
  const count = networkKeyCount(objects, seed);
  for (let index = 0; index < count; index++) if (networkKeyId(seed, index) === keyId) return index;
  throw new Error(`there is no network encryption key ${keyId}`);
}

/** Returns the outputs of a key that is new in this epoch. */
export function newKeyOutputs(
  { dkg, reconfiguration }: NetworkKeyOutputs,
  epoch: bigint,
): Pick<NewNetworkKey, "dkgPublicOutput" | "reconfiguration"> {
  return {
    dkgPublicOutput: dkg,
    reconfiguration: reconfiguration && { epoch, publicOutput: reconfiguration },
  };
}

export function networkKeyObjects(key: NewNetworkKey): GenesisObject[] {
  const { seed, index, reconfiguration } = key;
  const tableId = keyPartId(key, "network-dkg-output");
  const chunks = outputChunks(tableId, key.dkgPublicOutput);
  const keysId = genesisNetworkKeysTableId(seed);
  const keyId = networkKeyId(seed, index);
  const type = coordinatorTypes(key.addresses.dwalletPackageId).inner("DWalletNetworkEncryptionKey");
  const field = objectFieldParts(keysId, idName(keyId), keyId, type);
  const contents = NetworkEncryptionKeyStruct.serialize({
    id: keyId,
    dkg_at_epoch: key.epoch,
    network_dkg_public_output: { contents: { id: tableId, size: chunks.length } },
    reconfiguration_public_outputs: {
      id: keyPartId(key, "reconfiguration-outputs"),
      size: reconfiguration === undefined ? 0 : 1,
    },
    dkg_params_for_network: [],
    supported_curves: [...SUPPORTED_CURVES],
    state:
      reconfiguration === undefined
        ? { NetworkDKGCompleted: true }
        : { NetworkReconfigurationCompleted: true },
  }).toBytes();
  return [
    ...chunks,
    ...(reconfiguration === undefined ? [] : reconfigurationObjects(key, reconfiguration)),
    { ...field, owner: { kind: "object", parentId: keysId } },
    { id: keyId, type, contents, owner: { kind: "object", parentId: field.id } },
  ];
}

/** Returns the entry of an epoch in the key's table, and the chunks of its output. */
function reconfigurationObjects(
  key: Pick<NewNetworkKey, "seed" | "index">,
  { epoch, publicOutput }: Reconfiguration,
): GenesisObject[] {
  const tableId = keyPartId(key, `reconfiguration-output/${epoch}`);
  const chunks = outputChunks(tableId, publicOutput);
  const value = TableVec.serialize({ contents: { id: tableId, size: chunks.length } }).toBytes();
  const parentId = keyPartId(key, "reconfiguration-outputs");
  const entry = fieldParts(parentId, u64Name(epoch), "0x2::table_vec::TableVec<vector<u8>>", value);
  return [...chunks, { ...entry, owner: { kind: "object", parentId } }];
}

/** Returns the entries of a `TableVec` that holds an output in chunks. */
function outputChunks(tableId: string, output: Uint8Array): GenesisObject[] {
  const owner = { kind: "object", parentId: tableId } as const;
  return Array.from({ length: Math.ceil(output.length / CHUNK_BYTES) }, (_, index): GenesisObject => {
    const chunk = output.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
    const value = bcs.byteVector().serialize(chunk).toBytes();
    return { ...fieldParts(tableId, u64Name(BigInt(index)), "vector<u8>", value), owner };
  });
}

function keyPartId({ seed, index }: Pick<NewNetworkKey, "seed" | "index">, name: string): string {
  return genesisId(seed, `coordinator/${name}${index === 0 ? "" : `/${index}`}`);
}

const TableVec = bcs.struct("TableVec", {
  contents: bcs.struct("Table", { id: Address, size: U64 }),
});

/** Adds a key, which becomes the newest. dWallets and presigns of older keys continue to work. */
export function addNetworkKey(state: ExecutionState, key: NewNetworkKey): void {
  createAll(state, networkKeyObjects(key));
  updateInner(state, key.addresses, ({ dwallet_network_encryption_keys: keys }) => {
    keys.size = (BigInt(keys.size) + 1n).toString();
  });
}

/** Writes the output of a reconfiguration, unless the key has one for that epoch. */
export function addReconfiguration(
  state: ExecutionState,
  key: Pick<NewNetworkKey, "seed" | "index">,
  reconfiguration: Reconfiguration,
): void {
  const objects = reconfigurationObjects(key, reconfiguration);
  if (state.find(objects.at(-1)!.id) !== undefined) return;
  createAll(state, objects);
  const keyObject = state.find(networkKeyId(key.seed, key.index));
  if (keyObject === undefined) throw new Error(`there is no network encryption key ${key.index}`);
  state.update(keyObject, NetworkEncryptionKeyStruct, (value) => {
    const { size } = value.reconfiguration_public_outputs;
    value.reconfiguration_public_outputs.size = (BigInt(size) + 1n).toString();
    value.state = { $kind: "NetworkReconfigurationCompleted", NetworkReconfigurationCompleted: true };
  });
}

function createAll(state: ExecutionState, objects: readonly GenesisObject[]): void {
  for (const { id, type, contents, owner, field } of objects)
    state.create({ id, type, contents, owner, ...(field === undefined ? {} : { field }) });
}
