import { GrpcTypes } from "@mysten/sui/grpc";

/**
 * Renders the BCS of Move values as JSON if `codecOf` has the codec of their type. `numberLists` names the fields with
 * numbers instead of bytes.
 */
export function createMoveJson(
  codecOf: (type: string) => ContentsCodec | undefined,
  numberLists: ReadonlySet<string>,
): MoveJson {
  return (type, contents) => {
    const codec = codecOf(type);
    if (codec === undefined) return undefined;
    return valueType.fromJson(moveJson(codec.parse(contents), "", numberLists));
  };
}

/** `google.protobuf.Value`. */
export type JsonValue = NonNullable<GrpcTypes.Object["json"]>;

/** Writes a Move value as JSON; undefined for a type that this node cannot decode. */
export type MoveJson = (type: string, contents: Uint8Array) => JsonValue | undefined;

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
