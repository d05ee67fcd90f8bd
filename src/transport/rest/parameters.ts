import {
  type DescEnum,
  type DescField,
  type DescMessage,
  equals,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { shorten } from "../calls/bound-errors.ts";
import { wrongField } from "../calls/transport-error.ts";
import {
  type FieldPath,
  isReflectMessage,
  leafOf,
  protoPath,
  resolveFieldPath,
  valueAt,
} from "./field-path.ts";

/** A parameter with its values: one, unless its field is repeated. */
export interface Parameter {
  readonly path: FieldPath;
  readonly texts: readonly string[];
}

/**
 * Reads the fields of a query.
 * @param taken paths in proto names that the path or the body already sets
 * @throws TransportError VALIDATION for an unknown or taken name, and for a singular field given twice
 */
export function readQuery(desc: DescMessage, query: string, taken: ReadonlySet<string>): Parameter[] {
  const found = new Map<string, { path: FieldPath; texts: string[] }>();
  for (const [name, text] of parseQuery(query)) {
    const path = resolveFieldPath(desc, name);
    if (path === undefined) throw wrongField(shorten(name), "unknown query parameter");
    const key = protoPath(path);
    if (isTaken(key, taken)) throw wrongField(key, "already set by the path or the body");
    const known = found.get(key);
    if (known === undefined) found.set(key, { path, texts: [text] });
    else if (leafOf(path).fieldKind === "list") known.texts.push(text);
    else throw wrongField(key, "given more than once");
  }
  return [...found.values()];
}

/**
 * Converts parameters to JSON of the request's message.
 * @throws TransportError VALIDATION for text that is not a value of its field
 */
export function parametersToJson(parameters: readonly Parameter[]): JsonObject {
  const json: JsonObject = {};
  for (const { path, texts } of parameters) {
    const values = texts.map((text) => parse(path, text));
    assign(json, path, leafOf(path).fieldKind === "list" ? values : (values[0] ?? null));
  }
  return json;
}

/**
 * Refuses a body that contradicts the path. The body may omit the field or repeat its value.
 * @throws TransportError VALIDATION that names the field
 */
export function checkAgreement(
  desc: DescMessage,
  body: Message,
  variables: readonly Parameter[],
  fromPath: Message,
): void {
  for (const { path } of variables) {
    const inBody = valueAt(desc, body, path);
    if (inBody === undefined) continue;
    const inPath = valueAt(desc, fromPath, path);
    if (!isSame(inBody, inPath)) throw wrongField(protoPath(path), "the body disagrees with the path");
  }
}

function parse(path: FieldPath, text: string): JsonValue {
  try {
    return parseParameter(leafOf(path), text);
  } catch (error) {
    if (error instanceof ParameterSyntaxError) throw wrongField(protoPath(path), error.message);
    throw error;
  }
}

function assign(json: JsonObject, path: FieldPath, value: JsonValue): void {
  let at = json;
  for (const field of path.slice(0, -1)) {
    const next = at[field.jsonName];
    const object: JsonObject = isObject(next) ? next : {};
    at[field.jsonName] = object;
    at = object;
  }
  at[leafOf(path).jsonName] = value;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the name, or a message that contains it, is already set. */
function isTaken(name: string, taken: ReadonlySet<string>): boolean {
  const parts = name.split(".");
  return parts.some((_, index) => taken.has(parts.slice(0, index + 1).join(".")));
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  if (isReflectMessage(a) && isReflectMessage(b)) return equals(a.desc, a.message, b.message);
  return Object.is(a, b);
}

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

/**
 * Parses a query into names and values, in order. `+` means a space, as browsers write it. Empty parts are skipped.
 * @throws TransportError VALIDATION for escapes that are malformed or not UTF-8
 */
export function parseQuery(query: string): (readonly [name: string, text: string])[] {
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const equals = part.indexOf("=");
      const name = equals < 0 ? part : part.slice(0, equals);
      const text = equals < 0 ? "" : part.slice(equals + 1);
      return [decode(name, name), decode(text, name)] as const;
    });
}

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw wrongField(shorten(name), "the escapes in the query are malformed, or not UTF-8");
  }
}
