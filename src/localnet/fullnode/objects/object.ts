import { bcs } from "@mysten/sui/bcs";
import { fromBase58, toBase58 } from "@mysten/sui/utils";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { encodeUleb128 } from "../../../protocol/bytes.ts";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { blake2b256 } from "../../../protocol/chain/sui-hash.ts";
import { addressBytes, coinTypeOf, SUI_COIN_TYPE, typeTagBytes, u64Bytes } from "./sui-types.ts";

/** The owner of an object: an address, a parent object, or everyone. */
export type Owner =
  | { readonly kind: "address"; readonly address: string }
  | { readonly kind: "object"; readonly parentId: string }
  | { readonly kind: "shared"; readonly initialVersion: bigint }
  /** Nobody can change the object. */
  | { readonly kind: "immutable" };

/** The name and the value's type of a dynamic field object. `childId` is set for dynamic object fields. */
export interface FieldInfo {
  readonly nameType: string;
  readonly name: Uint8Array;
  readonly valueType: string;
  readonly childId: string | undefined;
}

/** One version of a Move object. It is never changed in place. */
export interface ChainObject {
  readonly id: string;
  readonly version: bigint;
  readonly digest: string;
  readonly owner: Owner;
  readonly type: string;
  readonly contents: Uint8Array;
  /** Base58 digest of the transaction that wrote this version. */
  readonly previousTransaction: string;
  /** The refund in MIST when the object is deleted or rewritten. */
  readonly storageRebate: bigint;
  readonly field: FieldInfo | undefined;
}

/** The type of a package, whose contents are its digest. */
export const PACKAGE_TYPE = "package";

/** A coin's layout: `0x2::coin::Coin<T>`. */
export const Coin = bcs.struct("Coin", { id: Address, balance: U64 });

/** Completes an object version with its digest. */
export function sealObject(object: Omit<ChainObject, "digest">): ChainObject {
  return { ...object, digest: toBase58(blake2b256(utf8ToBytes("Object::"), objectBcs(object))) };
}

/** Returns the object in Sui's BCS form (`ObjectInner`). A package has its digest instead of its modules. */
export function objectBcs(object: Omit<ChainObject, "digest">): Uint8Array {
  const publicTransfer = object.owner.kind === "address" ? 1 : 0;
  return concatBytes(
    // Data::Package, or Data::Move
    ...(object.type === PACKAGE_TYPE
      ? [Uint8Array.of(1), addressBytes(object.id)]
      : [Uint8Array.of(0), objectTypeBytes(object.type), Uint8Array.of(publicTransfer)]),
    u64Bytes(object.version),
    encodeUleb128(object.contents.length),
    object.contents,
    ownerBytes(object.owner),
    Uint8Array.of(32),
    fromBase58(object.previousTransaction),
    u64Bytes(object.storageRebate),
  );
}

/** Returns an owner in the form of the BCS enum. */
export function ownerBcs(owner: Owner): typeof bcs.Owner.$inferInput {
  switch (owner.kind) {
    case "address":
      return { AddressOwner: owner.address };
    case "object":
      return { ObjectOwner: owner.parentId };
    case "shared":
      return { Shared: { initialSharedVersion: owner.initialVersion } };
    case "immutable":
      return { Immutable: true };
  }
}

export function coinBalance(contents: Uint8Array): bigint {
  return new DataView(contents.buffer, contents.byteOffset, contents.byteLength).getBigUint64(32, true);
}

/** `MoveObjectType`: gas coins and other coins have short forms, everything else is its struct tag. */
function objectTypeBytes(type: string): Uint8Array {
  if (type === SUI_COIN_TYPE) return Uint8Array.of(1);
  const coinType = coinTypeOf(type);
  if (coinType !== undefined) return concatBytes(Uint8Array.of(3), typeTagBytes(coinType));
  // A struct's type tag is its variant byte and the struct tag itself.
  return concatBytes(Uint8Array.of(0), typeTagBytes(type).subarray(1));
}

function ownerBytes(owner: Owner): Uint8Array {
  switch (owner.kind) {
    case "address":
      return concatBytes(Uint8Array.of(0), addressBytes(owner.address));
    case "object":
      return concatBytes(Uint8Array.of(1), addressBytes(owner.parentId));
    case "shared":
      return concatBytes(Uint8Array.of(2), u64Bytes(owner.initialVersion));
    case "immutable":
      return Uint8Array.of(3);
  }
}
