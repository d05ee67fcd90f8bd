import type { FieldInfo, Owner } from "../fullnode/object.ts";
import type { NetworkAddresses } from "./addresses.ts";

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
