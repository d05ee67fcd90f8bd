import type { DescMessage, JsonObject, JsonValue, Message } from "@bufbuild/protobuf";
import { wrongField } from "../transport-error.ts";
import { type FieldPath, leafOf, protoPath, resolveFieldPath, valueAt } from "./field-path.ts";
import { ParameterSyntaxError, parseParameter } from "./parse-parameter.ts";

/**
 * The query of a request as JSON of its message.
 * @param taken paths in proto names that the path or the body fills already
 * @throws TransportError VALIDATION for an unknown name, a scalar given twice, and text that is no value of its field
 */
export function queryToJson(desc: DescMessage, query: string, taken: ReadonlySet<string>): JsonObject {
  const texts = new Map<string, { path: FieldPath; values: string[] }>();
  for (const [name, text] of new URLSearchParams(query)) {
    const path = resolveFieldPath(desc, name);
    if (path === undefined) throw wrongField(name, "unknown query parameter");
    const known = texts.get(protoPath(path));
    if (known === undefined) texts.set(protoPath(path), { path, values: [text] });
    else known.values.push(text);
  }
  const json: JsonObject = {};
  for (const [name, { path, values }] of texts) {
    if (isTaken(name, taken)) throw wrongField(name, "given by the path or the body already");
    const items = values.map((text) => parse(path, text));
    const isList = leafOf(path).fieldKind === "list";
    if (!isList && items.length > 1) throw wrongField(name, "given more than once");
    assign(json, path, isList ? items : (items[0] ?? null));
  }
  return json;
}

/** The variables of a path as JSON of the request's message. */
export function pathToJson(bindings: readonly PathBinding[]): JsonObject {
  const json: JsonObject = {};
  for (const { path, text } of bindings) assign(json, path, parse(path, text));
  return json;
}

/** A path variable with its text. */
export interface PathBinding {
  readonly path: FieldPath;
  readonly text: string;
}

/**
 * Refuses a body that says otherwise than the path. The body may leave the field out or repeat it.
 * @throws TransportError VALIDATION that names the field
 */
export function checkAgreement(
  desc: DescMessage,
  body: Message,
  bindings: readonly PathBinding[],
  fromPath: Message,
): void {
  for (const { path } of bindings) {
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

/** Whether the name, or a message that it is part of, is filled from elsewhere. */
function isTaken(name: string, taken: ReadonlySet<string>): boolean {
  const parts = name.split(".");
  return parts.some((_, index) => taken.has(parts.slice(0, index + 1).join(".")));
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}
