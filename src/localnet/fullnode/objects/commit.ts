import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { type ChainObject, type Owner, ownerBcs } from "./object.ts";

/**
 * One step of the ledger: a transaction in its client form, and every object that it or its settlement wrote or
 * deleted.
 */
export interface Commit {
  /** Base58 digest of the transaction. */
  readonly digest: string;
  /** Sequence number of the checkpoint, which contains only this transaction and its settlement. */
  readonly checkpoint: bigint;
  readonly timestampMs: bigint;
  /** `sui.rpc.v2.ExecutedTransaction` in protobuf. */
  readonly executed: Uint8Array;
  readonly written: readonly ChainObject[];
  readonly deleted: readonly string[];
  /** The transaction of the network that settled changes of address balances. */
  readonly settlement?: Settlement | undefined;
}

/** A settlement: its digest in base58, and `sui.rpc.v2.ExecutedTransaction` in protobuf. */
export interface Settlement {
  readonly digest: string;
  readonly executed: Uint8Array;
}

const FieldInfoBcs = bcs.struct("FieldInfo", {
  nameType: bcs.string(),
  name: bcs.byteVector(),
  valueType: bcs.string(),
  childId: bcs.option(Address),
});

const ChainObjectBcs = bcs.struct("ChainObject", {
  id: Address,
  version: U64,
  digest: bcs.string(),
  owner: bcs.Owner,
  type: bcs.string(),
  contents: bcs.byteVector(),
  previousTransaction: bcs.string(),
  storageRebate: U64,
  field: bcs.option(FieldInfoBcs),
});

const CommitBcs = bcs.struct("Commit", {
  digest: bcs.string(),
  checkpoint: U64,
  timestampMs: U64,
  executed: bcs.byteVector(),
  written: bcs.vector(ChainObjectBcs),
  deleted: bcs.vector(Address),
  settlement: bcs.option(bcs.struct("Settlement", { digest: bcs.string(), executed: bcs.byteVector() })),
});

/** Encodes a commit for the journal. */
export function encodeCommit(commit: Commit): Uint8Array {
  return CommitBcs.serialize({
    ...commit,
    written: commit.written.map((object) => ({
      ...object,
      owner: ownerBcs(object.owner),
      field: object.field === undefined ? null : { ...object.field, childId: object.field.childId ?? null },
    })),
    deleted: [...commit.deleted],
    settlement: commit.settlement ?? null,
  }).toBytes();
}

/** Decodes the output of `encodeCommit`. Throws on anything else. */
export function decodeCommit(bytes: Uint8Array): Commit {
  const commit = CommitBcs.parse(bytes);
  return {
    digest: commit.digest,
    checkpoint: BigInt(commit.checkpoint),
    timestampMs: BigInt(commit.timestampMs),
    executed: commit.executed,
    written: commit.written.map((object) => ({
      ...object,
      version: BigInt(object.version),
      storageRebate: BigInt(object.storageRebate),
      owner: decodeOwner(object.owner),
      field:
        object.field === null ? undefined : { ...object.field, childId: object.field.childId ?? undefined },
    })),
    deleted: commit.deleted,
    settlement: commit.settlement ?? undefined,
  };
}

function decodeOwner(owner: typeof bcs.Owner.$inferType): Owner {
  switch (owner.$kind) {
    case "AddressOwner":
      return { kind: "address", address: owner.AddressOwner };
    case "ObjectOwner":
      return { kind: "object", parentId: owner.ObjectOwner };
    case "Shared":
      return { kind: "shared", initialVersion: BigInt(owner.Shared.initialSharedVersion) };
    case "Immutable":
      return { kind: "immutable" };
    default:
      throw new Error(`an object cannot have owner ${owner.$kind} on this network`);
  }
}
