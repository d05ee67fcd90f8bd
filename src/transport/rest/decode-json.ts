import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
} from "@bufbuild/protobuf";
import { TransportError, wrongField } from "../transport-error.ts";
import { expectedMessage, expectedValue } from "./expected-value.ts";
import { findField } from "./field-path.ts";
import { shorten } from "./shorten.ts";

/**
 * Decodes a message from JSON and refuses unknown fields.
 * @throws TransportError VALIDATION that names the first field which does not decode, by its path in proto names, and
 *   never repeats the value
 */
export function decodeJson(desc: DescMessage, json: JsonValue, options: JsonOptions = {}): Message {
  try {
    return fromJson(desc, json, options);
  } catch (cause) {
    throw (
      explain(desc, json, "", 0, options) ??
      new TransportError("VALIDATION", expectedMessage(desc), { cause })
    );
  }
}

/** The types that a `google.protobuf.Any` may contain. */
type JsonOptions = { readonly registry?: Registry };

/**
 * Decodes member by member to find the failing one. Only failed requests pay for it.
 * @returns `undefined` when `json` as a whole is not a value of the message
 */
function explain(
  desc: DescMessage,
  json: JsonValue,
  prefix: string,
  depth: number,
  options: JsonOptions,
): TransportError | undefined {
  if (!isObject(json) || desc.typeName.startsWith("google.protobuf.")) return undefined;
  const seen = new Map<DescField, JsonValue>();
  for (const [name, value] of depth > MAX_DEPTH ? [] : Object.entries(json)) {
    const field = findField(desc, name);
    if (field === undefined) return wrongField(prefix + shorten(name), "unknown field");
    const path = prefix + field.name;
    if (seen.has(field)) return wrongField(path, "given under both of its names");
    const sibling = field.oneof?.fields.find((other) => (seen.get(other) ?? null) !== null);
    if (sibling !== undefined && value !== null) return excludes(path, prefix + sibling.name);
    seen.set(field, value);
    if (!decodes(desc, { [name]: value }, options))
      return explainField(desc, field, value, path, depth, options);
  }
  // Every member decodes alone, so the whole exceeds the decoder's nesting limit.
  return new TransportError("VALIDATION", "the message nests too deeply");
}

/** The decoder's own limit. */
const MAX_DEPTH = 100;

function explainField(
  desc: DescMessage,
  field: DescField,
  value: JsonValue,
  path: string,
  depth: number,
  options: JsonOptions,
): TransportError {
  const wrong = (at: string) => wrongField(at, expectedValue(field));
  if (field.fieldKind === "message") {
    return explain(field.message, value, `${path}.`, depth + 1, options) ?? wrong(path);
  }
  if (field.fieldKind !== "list") return wrong(path);
  if (!Array.isArray(value)) return wrongField(path, "expected an array");
  const index = value.findIndex((item) => !decodes(desc, { [field.name]: [item] }, options));
  const at = `${path}[${index}]`;
  const inner = field.message && explain(field.message, value[index] ?? null, `${at}.`, depth + 1, options);
  return inner ?? wrong(at);
}

/** Creates the error for two members of one oneof. Both are paths in proto names. */
export function excludes(path: string, sibling: string): TransportError {
  return wrongField(path, `cannot be set together with ${sibling}`);
}

function decodes(desc: DescMessage, json: JsonObject, options: JsonOptions): boolean {
  try {
    fromJson(desc, json, options);
    return true;
  } catch {
    return false;
  }
}

function isObject(json: JsonValue): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
