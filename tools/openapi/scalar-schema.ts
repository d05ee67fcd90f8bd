import { type JsonObject, ScalarType } from "@bufbuild/protobuf";

const INT32: JsonObject = { type: "integer", format: "int32" };
const UINT32: JsonObject = { type: "integer", format: "uint32", minimum: 0, maximum: 0xffff_ffff };
/** 64-bit integers are text, because many JSON parsers have only 53 bits. */
const INT64: JsonObject = { type: "string", format: "int64", pattern: "^-?[0-9]+$" };
const UINT64: JsonObject = { type: "string", format: "uint64", pattern: "^[0-9]+$" };
const NOT_NUMBERS: JsonObject = { type: "string", enum: ["NaN", "Infinity", "-Infinity"] };

const SCHEMAS: Readonly<Record<ScalarType, JsonObject>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
  [ScalarType.DOUBLE]: { anyOf: [{ type: "number", format: "double" }, NOT_NUMBERS] },
  [ScalarType.FLOAT]: { anyOf: [{ type: "number", format: "float" }, NOT_NUMBERS] },
  [ScalarType.INT32]: INT32,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.UINT32]: UINT32,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.INT64]: INT64,
  [ScalarType.SINT64]: INT64,
  [ScalarType.SFIXED64]: INT64,
  [ScalarType.UINT64]: UINT64,
  [ScalarType.FIXED64]: UINT64,
};

/** Returns the JSON Schema of a scalar by protobuf's JSON mapping. */
export function scalarSchema(scalar: ScalarType): JsonObject {
  return { ...SCHEMAS[scalar] };
}

/** Returns the JSON Schema of a map's key, which is text in JSON. */
export function mapKeySchema(scalar: ScalarType): JsonObject {
  if (scalar === ScalarType.BOOL) return { enum: ["true", "false"] };
  if (scalar === ScalarType.STRING) return {};
  const isUnsigned = [ScalarType.UINT32, ScalarType.FIXED32, ScalarType.UINT64, ScalarType.FIXED64].includes(
    scalar,
  );
  return { pattern: isUnsigned ? "^[0-9]+$" : "^-?[0-9]+$" };
}
