import { type DescField, type DescMessage, type JsonValue, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** Why a text is no value of its field. */
export class ParameterSyntaxError extends Error {
  override readonly name = "ParameterSyntaxError";
}

/**
 * Turns the text of a path variable or query parameter into the JSON value of its field (of one item, if the field
 * is repeated). Integers are decimal digits only; enums are names or numbers; bytes are base64 of either alphabet.
 * @throws ParameterSyntaxError
 */
export function parseParameter(field: DescField, text: string): JsonValue {
  switch (field.fieldKind === "list" ? field.listKind : field.fieldKind) {
    case "scalar":
      return parseScalar(field.scalar ?? ScalarType.STRING, text);
    case "enum":
      return INTEGER.test(text) ? Number(text) : text;
    case "message":
      return parseMessage(field.message, text);
    default:
      throw new ParameterSyntaxError("a map cannot be given as a parameter");
  }
}

const INTEGER = /^-?\d+$/;
const NUMBER = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity)$/;
const TEXT_MESSAGES = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "google.protobuf.FieldMask",
]);

function parseMessage(message: DescMessage | undefined, text: string): JsonValue {
  if (message !== undefined && isWrapperDesc(message)) {
    return parseScalar(message.fields[0].scalar, text);
  }
  if (message !== undefined && TEXT_MESSAGES.has(message.typeName)) return text;
  throw new ParameterSyntaxError("a message cannot be given as a parameter; name one of its fields");
}

function parseScalar(scalar: ScalarType, text: string): JsonValue {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return text;
    case ScalarType.BOOL:
      if (text !== "true" && text !== "false") throw new ParameterSyntaxError("expected true or false");
      return text === "true";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      if (!NUMBER.test(text)) throw new ParameterSyntaxError("expected a number");
      return text;
    default:
      if (!INTEGER.test(text)) throw new ParameterSyntaxError("expected decimal digits");
      return text;
  }
}
