import { GrpcTypes } from "@mysten/sui/grpc";
import { ownerProto } from "../execution/effects.ts";
import { type ChainObject, coinBalance, objectBcs } from "../objects/object.ts";
import { coinTypeOf } from "../objects/sui-types.ts";
import type { MoveJson } from "./move-json.ts";
import { type FieldMask, parseReadMask, type ReadMask } from "./read-mask.ts";

/** Returns an object in its sui.rpc.v2 form, limited to the read mask. */
export type ProjectObject = (object: ChainObject, mask: ObjectMask) => GrpcTypes.Object;

/** The parsed read mask of a call that returns objects. */
export type ObjectMask = ReadMask<GrpcTypes.Object>;

/** Parses the read mask of a call that returns objects; by default id, version and digest. */
export function objectMask(
  mask: FieldMask,
  defaults: readonly string[] = ["object_id", "version", "digest"],
): ObjectMask {
  return parseReadMask(GrpcTypes.Object, mask, defaults);
}

/** Creates the projection. `toJson` renders the contents of objects. */
export function createObjectProjection(toJson: MoveJson): ProjectObject {
  return (object, mask) => project(object, mask, toJson);
}

function project(object: ChainObject, mask: ObjectMask, toJson: MoveJson): GrpcTypes.Object {
  const message: GrpcTypes.Object = {
    objectId: object.id,
    version: object.version,
    digest: object.digest,
    owner: ownerProto(object.owner),
    objectType: object.type,
    hasPublicTransfer: object.owner.kind === "address",
    contents: { name: object.type, value: object.contents },
    previousTransaction: object.previousTransaction,
    storageRebate: object.storageRebate,
  };
  if (coinTypeOf(object.type) !== undefined) message.balance = coinBalance(object.contents);
  if (mask.keeps("bcs")) message.bcs = { name: "Object", value: objectBcs(object) };
  if (mask.keeps("json")) {
    const json = toJson(object.type, object.contents);
    if (json !== undefined) message.json = json;
  }
  return mask.project(message);
}
