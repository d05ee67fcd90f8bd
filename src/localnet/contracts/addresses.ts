import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "../../protocol/chain/sui-hash.ts";
import { fieldId, u64Name } from "../fullnode/objects/dynamic-fields.ts";
import type { FieldInfo, Owner } from "../fullnode/objects/object.ts";
import { addressOfBytes } from "../fullnode/objects/sui-types.ts";

/** The version of the coordinator's inner state, which is also the name of its dynamic field. */
export const COORDINATOR_VERSION = 2n;

/** Every package and object id that follows from a network's seed alone. */
export interface NetworkAddresses {
  readonly ikaPackageId: string;
  readonly ikaCommonPackageId: string;
  readonly ikaSystemPackageId: string;
  /** `ika_dwallet_2pc_mpc` */
  readonly dwalletPackageId: string;
  readonly treasuryPackageId: string;
  readonly coordinatorId: string;
  /** The dynamic field that holds the coordinator's inner state. */
  readonly coordinatorInnerId: string;
  readonly systemId: string;
  readonly networkEncryptionKeyId: string;
  readonly treasuryId: string;
  readonly adminCapId: string;
  readonly operatorCapIds: readonly string[];
  /** `<ika>::ika::IKA`, 9 decimals. */
  readonly ikaCoinType: string;
}

/** Returns a deterministic id for a named object of the network with this seed. */
export function genesisId(seed: Uint8Array, name: string): string {
  return addressOfBytes(blake2b256(utf8ToBytes("ika-localnet/genesis/"), seed, utf8ToBytes(`/${name}`)));
}

export function networkAddresses(seed: Uint8Array, operatorCount: number): NetworkAddresses {
  const id = (name: string) => genesisId(seed, name);
  const ikaPackageId = id("package/ika");
  const coordinatorId = id("coordinator");
  return {
    ikaPackageId,
    ikaCommonPackageId: id("package/ika_common"),
    ikaSystemPackageId: id("package/ika_system"),
    dwalletPackageId: id("package/ika_dwallet_2pc_mpc"),
    treasuryPackageId: id("package/treasury"),
    coordinatorId,
    coordinatorInnerId: fieldId(coordinatorId, u64Name(COORDINATOR_VERSION)),
    systemId: id("system"),
    networkEncryptionKeyId: id("network-encryption-key"),
    treasuryId: id("treasury"),
    adminCapId: id("treasury/admin-cap"),
    operatorCapIds: Array.from({ length: operatorCount }, (_, index) => id(`treasury/operator-cap/${index}`)),
    ikaCoinType: `${ikaPackageId}::ika::IKA`,
  };
}

/** An object of the genesis; all have version 1. */
export interface GenesisObject {
  readonly id: string;
  readonly type: string;
  readonly contents: Uint8Array;
  readonly owner: Owner;
  readonly field?: FieldInfo;
}

export interface GenesisOptions {
  readonly seed: Uint8Array;
  readonly addresses: NetworkAddresses;
  readonly networkKeyOutputs: NetworkKeyOutputs;
  /** Owns the Treasury's caps and receives the initial coins. */
  readonly hotWalletAddress: string;
  /** Further addresses that receive the same coins. */
  readonly accounts: readonly string[];
  readonly timestampMs: bigint;
}

export interface NetworkKeyOutputs {
  readonly dkg: Uint8Array;
  /** The output of the reconfiguration for the current epoch; undefined for a key that has had none. */
  readonly reconfiguration?: Uint8Array | undefined;
}

/** The version of every object, and the initial shared version of every shared one. */
export const GENESIS_VERSION = 1n;
/** The owner of an object that was shared at genesis. */
export const GENESIS_SHARED: Owner = { kind: "shared", initialVersion: GENESIS_VERSION };
