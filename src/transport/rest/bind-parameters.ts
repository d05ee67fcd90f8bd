import { type DescMessage, equals, type JsonObject, type JsonValue, type Message } from "@bufbuild/protobuf";
import { wrongField } from "../transport-error.ts";
import {
  type FieldPath,
  isReflectMessage,
  leafOf,
  protoPath,
  resolveFieldPath,
  valueAt,
} from "./field-path.ts";
import { ParameterSyntaxError, parseParameter } from "./parse-parameter.ts";
import { parseQuery } from "./parse-query.ts";
import { shorten } from "./shorten.ts";

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
