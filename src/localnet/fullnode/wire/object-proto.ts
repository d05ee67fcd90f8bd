import { GrpcTypes } from "@mysten/sui/grpc";
import { ownerProto } from "../execution/effects.ts";
import { type ChainObject, coinBalance, objectBcs } from "../objects/object.ts";
import { coinTypeOf } from "../objects/sui-types.ts";
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

/** Creates the projection. `toJson` renders objects as JSON. */
export function createObjectProjection(toJson: ObjectJson): ProjectObject {
  return (object, mask) => project(object, mask, toJson);
}

function project(object: ChainObject, mask: ObjectMask, toJson: ObjectJson): GrpcTypes.Object {
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
    const json = toJson(object);
    if (json !== undefined) message.json = json;
  }
  return mask.project(message);
}

/**
 * Renders objects as JSON if `codecOf` has their codec. `numberLists` names the fields with numbers instead of bytes.
 */
export function objectJson(
  codecOf: (type: string) => ContentsCodec | undefined,
  numberLists: ReadonlySet<string>,
): ObjectJson {
  return (object) => {
    const codec = codecOf(object.type);
    if (codec === undefined) return undefined;
    return valueType.fromJson(moveJson(codec.parse(object.contents), "", numberLists));
  };
}

/** `google.protobuf.Value`. */
export type JsonValue = NonNullable<GrpcTypes.Object["json"]>;

/** Writes an object's Move fields as JSON; undefined for a type that this node cannot decode. */
export type ObjectJson = (object: ChainObject) => JsonValue | undefined;

/** Decodes the contents of one Move type. */
export interface ContentsCodec {
  parse(bytes: Uint8Array): unknown;
}

/**
 * Renders a Move value as Sui's nodes do (sui-rpc's proto `Value`): addresses and integers of 64 bits and more as text,
 * `vector<u8>` in base64, an enum as its fields and `@variant`.
 */
function moveJson(value: unknown, field: string, numberLists: ReadonlySet<string>): Json {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) {
    const isBytes = value.every((item) => typeof item === "number") && !numberLists.has(field);
    if (isBytes) return Buffer.from(value).toString("base64");
    return value.map((item) => moveJson(item, field, numberLists));
  }
  if (typeof value !== "object") return value as Json;
  const { $kind, ...fields } = value as Record<string, unknown>;
  const entries = Object.entries(typeof $kind === "string" ? variantFields(fields[$kind]) : fields);
  const json = Object.fromEntries(entries.map(([name, item]) => [name, moveJson(item, name, numberLists)]));
  return typeof $kind === "string" ? { "@variant": $kind, ...json } : json;
}

/** The SDK decodes a variant without fields as `true`. */
function variantFields(content: unknown): object {
  return typeof content === "object" && content !== null && !Array.isArray(content) ? content : {};
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const jsonField = GrpcTypes.Object.fields.find(({ localName }) => localName === "json");
const valueType = (jsonField as unknown as { T(): { fromJson(json: Json): JsonValue } }).T();
