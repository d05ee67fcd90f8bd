import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/**
 * Describes the valid values of a field for an error message. It does not repeat the given value, which may be large or
 * secret. For a repeated field, it describes one item.
 */
export function expectedValue(field: DescField): string {
  if (field.fieldKind === "map") return "expected an object";
  if (field.enum !== undefined) return expectedEnum(field.enum);
  if (field.message !== undefined) return expectedMessage(field.message);
  return expectedScalar(field.scalar ?? ScalarType.STRING);
}

function expectedEnum({ name }: DescEnum): string {
  return `expected a value of ${name}, by name or number`;
}

/** Describes the valid values of a message by the JSON mapping of its type. */
export function expectedMessage(message: DescMessage): string {
  if (isWrapperDesc(message)) return expectedScalar(message.fields[0].scalar);
  return MESSAGES[message.typeName] ?? "expected an object with fields of this message";
}

const MESSAGES: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": "expected a time such as 2024-01-02T03:04:05Z",
  "google.protobuf.Duration": "expected a duration in seconds such as 1.5s",
  "google.protobuf.FieldMask": "expected comma-separated field paths in lowerCamelCase",
};

function expectedScalar(scalar: ScalarType): string {
  switch (scalar) {
    case ScalarType.STRING:
      return "expected a string";
    case ScalarType.BYTES:
      return "expected base64";
    case ScalarType.BOOL:
      return "expected true or false";
    case ScalarType.DOUBLE:
      return "expected a number";
    case ScalarType.FLOAT:
      return "expected a number that a 32-bit float can hold";
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return expectedInteger(-(2n ** 31n), 2n ** 31n);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return expectedInteger(0n, 2n ** 32n);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return expectedInteger(-(2n ** 63n), 2n ** 63n);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return expectedInteger(0n, 2n ** 64n);
  }
}

function expectedInteger(from: bigint, end: bigint): string {
  return `expected an integer from ${from} to ${end - 1n}`;
}
