import { bcs } from "@mysten/sui/bcs";
import { blake2b256, u64Bytes, utf8 } from "../../fullnode/bytes.ts";
import { fieldParts, idName, objectFieldParts, u64Name } from "../../fullnode/dynamic-fields.ts";
import type { ExecutionState } from "../../fullnode/execution-state.ts";
import type { ObjectStore } from "../../fullnode/object-store.ts";
import { genesisId, type NetworkAddresses } from "../addresses.ts";
import type { GenesisObject } from "../genesis-object.ts";
import { coordinatorTypes, NetworkEncryptionKey, updateInner } from "./coordinator-state.ts";
import { SUPPORTED_CURVES } from "./supported-algorithms.ts";

/** The network stores outputs in pieces of this size. */
const CHUNK_BYTES = 5 * 1024;

/** A network encryption key to be written to the chain. */
export interface NewNetworkKey {
  /** The network's seed, which all ids follow from. */
  readonly seed: Uint8Array;
  readonly addresses: NetworkAddresses;
  /** 0 for the one of the genesis. */
  readonly index: number;
  readonly dkgPublicOutput: Uint8Array;
  readonly epoch: bigint;
}

/** The table of all network encryption keys. */
export function networkKeysTableId(seed: Uint8Array): string {
  return genesisId(seed, "coordinator/network-encryption-keys");
}

/** The id of the network's n-th encryption key. */
export function networkKeyId(seed: Uint8Array, index: number): string {
  return genesisId(seed, `network-encryption-key${index === 0 ? "" : `/${index}`}`);
}

/** 32 bytes that the network's n-th key and all shares under it follow from. */
export function networkKeySeed(seed: Uint8Array, index: number): Uint8Array {
  return index === 0 ? seed : blake2b256(utf8("ika-localnet/network-key/"), seed, u64Bytes(BigInt(index)));
}

/** How many network encryption keys the chain has. */
export function networkKeyCount(objects: ObjectStore, seed: Uint8Array): number {
  return objects.fields(networkKeysTableId(seed)).length;
}

/** Which of the network's keys this is. Throws when the chain does not have it. */
export function networkKeyIndex(objects: ObjectStore, seed: Uint8Array, keyId: string): number {
  const count = networkKeyCount(objects, seed);
  for (let index = 0; index < count; index++) if (networkKeyId(seed, index) === keyId) return index;
  throw new Error(`there is no network encryption key ${keyId}`);
}

/** The objects of a key. It has no reconfiguration output: clients derive their parameters from the DKG's alone. */
export function networkKeyObjects(key: NewNetworkKey): GenesisObject[] {
  const { seed, index, dkgPublicOutput: output } = key;
  const id = (name: string) => genesisId(seed, `coordinator/${name}${index === 0 ? "" : `/${index}`}`);
  const tableId = id("network-dkg-output");
  const chunkCount = Math.ceil(output.length / CHUNK_BYTES);
  const chunks = Array.from({ length: chunkCount }, (_, chunkIndex): GenesisObject => {
    const chunk = output.subarray(chunkIndex * CHUNK_BYTES, (chunkIndex + 1) * CHUNK_BYTES);
    const value = bcs.byteVector().serialize(chunk).toBytes();
    const owner = { kind: "object", parentId: tableId } as const;
    return { ...fieldParts(tableId, u64Name(BigInt(chunkIndex)), "vector<u8>", value), owner };
  });
  const keysId = networkKeysTableId(seed);
  const keyId = networkKeyId(seed, index);
  const type = coordinatorTypes(key.addresses.dwalletPackageId).inner("DWalletNetworkEncryptionKey");
  const field = objectFieldParts(keysId, idName(keyId), keyId, type);
  const contents = NetworkEncryptionKey.serialize({
    id: keyId,
    dkg_at_epoch: key.epoch,
    network_dkg_public_output: { contents: { id: tableId, size: chunkCount } },
    reconfiguration_public_outputs: { id: id("reconfiguration-outputs"), size: 0 },
    dkg_params_for_network: [],
    supported_curves: [...SUPPORTED_CURVES],
    state: { NetworkDKGCompleted: true },
  }).toBytes();
  return [
    ...chunks,
    { ...field, owner: { kind: "object", parentId: keysId } },
    { id: keyId, type, contents, owner: { kind: "object", parentId: field.id } },
  ];
}

/** Writes a further key, which is the newest from then on. dWallets and presigns of older ones go on to work. */
export function addNetworkKey(state: ExecutionState, key: NewNetworkKey): void {
  for (const { id, type, contents, owner, field } of networkKeyObjects(key))
    state.create({ id, type, contents, owner, ...(field === undefined ? {} : { field }) });
  updateInner(state, key.addresses, ({ dwallet_network_encryption_keys: keys }) => {
    keys.size = (BigInt(keys.size) + 1n).toString();
  });
}
