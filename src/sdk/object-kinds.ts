import { bytesToHex } from "@noble/hashes/utils.js";
import { type ChainDWallet, parseDWallet, parseNetworkEncryptionKey } from "../protocol/chain-objects.ts";
import { networkKeysTableId } from "../protocol/coordinator-objects.ts";

/** A Move type that the client reads. */
export interface ObjectKind {
  /**
   * The type name. `dwalletPackage` is the original package of the coordinator's types; only that package can create
   * them.
   */
  readonly type: (dwalletPackage: string) => string;
  /**
   * The part of the contents that the client relies on, for objects whose other fields change often: fullnodes that are
   * one transaction apart agree on it. Default: all contents.
   */
  readonly facts?: (content: Uint8Array) => string;
}

const inner = (name: string) => (dwalletPackage: string) => `${dwalletPackage}::coordinator_inner::${name}`;

/** Ika's coordinator. */
export const COORDINATOR: ObjectKind = {
  type: (dwalletPackage) => `${dwalletPackage}::coordinator::DWalletCoordinator`,
};

/** The coordinator's state, which every session changes. */
export const COORDINATOR_INNER: ObjectKind = {
  type: (dwalletPackage) => field("u64", inner("DWalletCoordinatorInner")(dwalletPackage)),
  facts: networkKeysTableId,
};

/** An entry of the coordinator's table of network encryption keys. */
export const NETWORK_KEY_ENTRY: ObjectKind = {
  type: () => field("0x2::dynamic_object_field::Wrapper<0x2::object::ID>", "0x2::object::ID"),
};

/** A network encryption key. Every epoch changes its state and adds an output. */
export const NETWORK_KEY: ObjectKind = {
  type: inner("DWalletNetworkEncryptionKey"),
  facts: (content) => {
    const facts = { ...parseNetworkEncryptionKey(content), stateKind: undefined };
    return JSON.stringify(facts, (_, value) => (typeof value === "bigint" ? String(value) : value));
  },
};

/** The entry of a table of reconfiguration outputs. */
export const RECONFIGURATION_ENTRY: ObjectKind = {
  type: () => field("u64", "0x2::table_vec::TableVec<vector<u8>>"),
};

/** A chunk of a network key's output. */
export const OUTPUT_CHUNK: ObjectKind = { type: () => field("u64", "vector<u8>") };

/** A dWallet. Every signature changes the size of its table of sessions. */
export const DWALLET: ObjectKind = {
  type: inner("DWallet"),
  facts: (content) => dwalletFacts(parseDWallet(content)),
};

/** A user's encrypted share. */
export const ENCRYPTED_SHARE: ObjectKind = { type: inner("EncryptedUserSecretKeyShare") };

/** A presign. */
export const PRESIGN: ObjectKind = { type: inner("PresignSession") };

function field(nameType: string, valueType: string): string {
  return `0x2::dynamic_field::Field<${nameType},${valueType}>`;
}

function dwalletFacts({ state, ...dwallet }: ChainDWallet): string {
  const output = "publicOutput" in state ? bytesToHex(state.publicOutput) : "";
  return JSON.stringify([dwallet, state.kind, output]);
}
