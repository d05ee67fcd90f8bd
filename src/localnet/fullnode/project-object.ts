import { GrpcTypes } from "@mysten/sui/grpc";
import { ownerProto } from "./effects.ts";
import { type ChainObject, coinBalance, objectBcs } from "./object.ts";
import type { ObjectJson } from "./object-json.ts";
import { applyReadMask, masks } from "./read-mask.ts";
import { coinTypeOf } from "./sui-types.ts";

/** Returns an object in its sui.rpc.v2 form, limited to the read mask (by default id, version and digest). */
export type ProjectObject = (object: ChainObject, mask: Mask) => GrpcTypes.Object;

type Mask = { readonly paths: readonly string[] } | undefined;

const DEFAULTS = ["object_id", "version", "digest"];

/** Creates the projection. `toJson` renders objects as JSON. */
export function createObjectProjection(toJson: ObjectJson): ProjectObject {
  return (object, mask) => project(object, mask, toJson);
}

function project(object: ChainObject, mask: Mask, toJson: ObjectJson): GrpcTypes.Object {
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
  if (masks(mask, DEFAULTS, "bcs")) message.bcs = { name: "Object", value: objectBcs(object) };
  if (masks(mask, DEFAULTS, "json")) {
    const json = toJson(object);
    if (json !== undefined) message.json = json;
  }
  return applyReadMask(GrpcTypes.Object, message, mask, DEFAULTS);
}
