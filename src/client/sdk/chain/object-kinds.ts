import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type ChainDWallet,
  parseDWallet,
  parseNetworkEncryptionKey,
} from "../../../protocol/chain/chain-objects.ts";
import { networkKeysTableId } from "../../../protocol/chain/coordinator-objects.ts";
import { custodyPlaces } from "../../../protocol/chain/treasury-custody.ts";

/** A kind of Move object that the client reads. */
export interface ObjectKind {
  /**
   * The type name. `dwalletPackage` is the original package of the coordinator's types; only that package can create
   * them. A pattern is for objects of a package that the client does not know.
   */
  readonly type: ((dwalletPackage: string) => string) | RegExp;
  /**
   * Returns the part of the contents that the client relies on, for objects whose other fields change often: fullnodes
   * that are one transaction apart agree on it. Default: all contents.
   */
  readonly facts?: (content: Uint8Array) => string;
  /** Whether the client relies on the owner. Default false. */
  readonly isOwned?: boolean;
}

const inner = (name: string) => (dwalletPackage: string) => `${dwalletPackage}::coordinator_inner::${name}`;

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

export const ENCRYPTED_SHARE: ObjectKind = { type: inner("EncryptedUserSecretKeyShare") };

export const ENCRYPTION_KEY: ObjectKind = { type: inner("EncryptionKey") };

export const PRESIGN: ObjectKind = { type: inner("PresignSession") };

export const DWALLET_CAP: ObjectKind = { type: inner("DWalletCap"), isOwned: true };

export const IMPORTED_KEY_CAP: ObjectKind = { type: inner("ImportedKeyDWalletCap"), isOwned: true };

/** A Treasury. Every payment changes its balances. */
export const TREASURY: ObjectKind & { readonly type: RegExp } = {
  type: /^0x[0-9a-f]{64}::treasury::Treasury$/,
  facts: (content) => JSON.stringify(custodyPlaces(content, NO_DWALLET)),
};
const NO_DWALLET = `0x${"0".repeat(64)}`;

/** A Treasury's record of a dWallet. */
export const TREASURY_DWALLET_ENTRY: ObjectKind = {
  type: entryOf("0x0*2::object::ID", "0x[0-9a-f]{64}::custody::DWallet"),
};

/** The entry in which a Treasury holds a dWallet's or an imported key's capability. */
export const DWALLET_CAP_ENTRY: ObjectKind = {
  type: entryOf("0x0*2::dynamic_object_field::Wrapper<0x0*2::object::ID>", "0x0*2::object::ID"),
};

/** The number of a dWallet's authorizations that a Treasury has used. */
export const TREASURY_NONCE_ENTRY: ObjectKind = { type: entryOf("0x0*2::object::ID", "u64") };

/** Returns a pattern, because the ids of Ika on a localnet are known only to the service. */
function entryOf(name: string, value: string): RegExp {
  return new RegExp(`^0x0*2::dynamic_field::Field<${name},\\s?${value}>$`);
}

function field(nameType: string, valueType: string): string {
  return `0x2::dynamic_field::Field<${nameType},${valueType}>`;
}

function dwalletFacts({ state, ...dwallet }: ChainDWallet): string {
  const output = "publicOutput" in state ? bytesToHex(state.publicOutput) : "";
  return JSON.stringify([dwallet, state.kind, output]);
}
