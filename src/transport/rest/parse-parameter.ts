import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { expectedValue } from "./expected-value.ts";

/**
 * Converts the text of a path variable or query parameter to the JSON value of its field (of one item, if the field is
 * repeated). Integers are decimal digits only; enums are names or numbers; bytes are base64 in either alphabet, with or
 * without padding. The JSON decoder checks ranges and names.
 * @throws ParameterSyntaxError
 */
export function parseParameter(field: DescField, text: string): JsonValue {
  if (!isParameterField(field)) throw new ParameterSyntaxError("cannot be given as a parameter");
  const value = parseValue(field, text);
  if (value === undefined) throw new ParameterSyntaxError(expectedValue(field));
  return value;
}

/** The reason why a text is not a value of its field. */
export class ParameterSyntaxError extends Error {
  override readonly name = "ParameterSyntaxError";
}

/** Whether a text can express a value of the field: scalars, enums, and messages that are strings in JSON. */
export function isParameterField(field: DescField): boolean {
  return field.fieldKind !== "map" && (field.message === undefined || isText(field.message));
}

const INTEGER = /^-?\d+$/;
const NUMBER = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity)$/;
const BASE64 = /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2}(?:==)?|[A-Za-z0-9+/_-]{3}=?)?$/;
const TEXT_MESSAGES = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "google.protobuf.FieldMask",
]);

function isText(message: DescMessage): boolean {
  return isWrapperDesc(message) || TEXT_MESSAGES.has(message.typeName);
}

function parseValue(field: DescField, text: string): JsonValue | undefined {
  const { message } = field;
  if (field.enum !== undefined) return INTEGER.test(text) ? Number(text) : text;
  if (message === undefined) return parseScalar(field.scalar ?? ScalarType.STRING, text);
  return isWrapperDesc(message) ? parseScalar(message.fields[0].scalar, text) : text;
}

function parseScalar(scalar: ScalarType, text: string): JsonValue | undefined {
  switch (scalar) {
    case ScalarType.STRING:
      return text;
    case ScalarType.BYTES:
      return BASE64.test(text) ? text : undefined;
    case ScalarType.BOOL:
      return text === "true" || (text === "false" ? false : undefined);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return NUMBER.test(text) ? text : undefined;
    default:
      return INTEGER.test(text) ? text : undefined;
  }
}
