import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  mergeFromJson,
  type Registry,
  ScalarType,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { HttpBodySchema } from "../../../gen/proto/google/api/httpbody_pb.ts";
import { shorten } from "../calls/bound-errors.ts";
import { mediaTypeOf } from "../calls/message-codec.ts";
import { TransportError, wrongField } from "../calls/transport-error.ts";
import { type ServerRequest, splitTarget } from "../http/node-http.ts";
import { hasNoBody } from "../http/receive-body.ts";
import { findField, protoPath, replacedMember } from "./field-path.ts";
import {
  checkAgreement,
  expectedMessage,
  expectedValue,
  type Parameter,
  parametersToJson,
  parseQuery,
  readQuery,
} from "./parameters.ts";
import type { PathMatch } from "./path-router.ts";
import { expectNoBody, expectNoEncoding, type ReadOctetsLimits, readOctets } from "./read-octets.ts";
import type { BodyRule, RestRoute } from "./rest-routes.ts";

/**
 * Builds the request message of a matched route from body, query and path.
 * @throws TransportError that names the field at fault, if any
 */
export function decodeRequest(
  match: PathMatch<RestRoute>,
  request: ServerRequest,
  limits: ReadOctetsLimits,
): Message | Promise<Message> {
  const route = match.value;
  const variables = variablesOf(match);
  const isPathAlone = route.request.kind === "none" && hasNoBody(request) && !request.url?.includes("?");
  const plain = isPathAlone ? fromPlainText(route.spec.method.input, variables) : undefined;
  return plain ?? decodeWhole(route, request, variables, limits);
}

async function decodeWhole(
  route: RestRoute,
  request: ServerRequest,
  variables: readonly Parameter[],
  limits: ReadOctetsLimits,
): Promise<Message> {
  const desc = route.spec.method.input;
  const message = await decodeBody(route, request, limits);
  merge(message, desc, queryOf(route, request, variables), route);
  if (variables.length > 0) {
    checkAgreement(desc, message, variables, decodeJson(desc, parametersToJson(variables), route.json));
    merge(message, desc, variables, route);
  }
  return message;
}

/** Returns the message of a request that consists only of strings in its path, or `undefined` for any other. */
function fromPlainText(desc: DescMessage, variables: readonly Parameter[]): Message | undefined {
  const fields: Record<string, string> = {};
  for (const { path, texts } of variables) {
    const [field] = path;
    const isText = field.fieldKind === "scalar" && field.scalar === ScalarType.STRING;
    if (!isText || path.length > 1 || field.oneof !== undefined) return undefined;
    fields[field.localName] = texts[0] ?? "";
  }
  return create(desc, fields);
}

function variablesOf(match: PathMatch<RestRoute>): Parameter[] {
  return [...match.value.variables].map(([name, path]) => {
    const text = match.bindings.get(name);
    if (text === undefined) throw wrongField(name, "the escapes in the path are malformed, or not UTF-8");
    return { path, texts: [text] };
  });
}

function queryOf(route: RestRoute, request: ServerRequest, variables: readonly Parameter[]): Parameter[] {
  const { query } = splitTarget(request);
  if (query === "") return [];
  if (route.request.kind === "message") {
    const [first] = parseQuery(query);
    if (first === undefined) return [];
    throw wrongField(shorten(first[0]), "this route takes no query parameters");
  }
  const taken = new Set(variables.map(({ path }) => protoPath(path)));
  if (route.request.kind === "field") taken.add(route.request.field.name);
  return readQuery(route.spec.method.input, query, taken);
}

async function decodeBody(
  route: RestRoute,
  request: ServerRequest,
  limits: ReadOctetsLimits,
): Promise<Message> {
  const { request: body, spec } = route;
  const desc = spec.method.input;
  if (body.kind === "none") {
    await expectNoBody(request, limits);
    return create(desc);
  }
  if (route.takesOctets) return decodeOctets(desc, body, request, limits);
  const bytes = await readOctets(request, limits);
  if (bytes.byteLength === 0) return create(desc);
  const json = parseJson(bytes, request.headers["content-type"]);
  return decodeJson(desc, body.kind === "field" ? { [body.field.jsonName]: json } : json, route.json);
}

/** Wraps the raw body and its media type in a google.api.HttpBody. */
async function decodeOctets(
  desc: DescMessage,
  body: BodyRule,
  request: ServerRequest,
  limits: ReadOctetsLimits,
): Promise<Message> {
  expectNoEncoding(request);
  const bytes = await readOctets(request, limits);
  const contentType = request.headers["content-type"];
  const message = create(desc);
  if (bytes.byteLength === 0 && contentType === undefined) return message;
  // Handlers expect a plain Uint8Array; a Buffer's methods differ.
  const data = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const octets = create(HttpBodySchema, { contentType: contentType ?? "application/octet-stream", data });
  if (body.kind === "message") return Object.assign(message, { contentType: octets.contentType, data });
  if (body.kind === "field") reflect(desc, message).set(body.field, reflect(HttpBodySchema, octets));
  return message;
}

/** @throws TransportError VALIDATION for a value that does not decode, and for a second member of one oneof */
function merge(
  message: Message,
  desc: DescMessage,
  parameters: readonly Parameter[],
  { json: options }: RestRoute,
): void {
  if (parameters.length === 0) return;
  for (const { path } of parameters) {
    const other = replacedMember(desc, message, path);
    if (other !== undefined) {
      throw excludes(protoPath(path), other.map(({ name }) => name).join("."));
    }
  }
  const json: JsonObject = parametersToJson(parameters);
  // Decoded separately first, so that the error names the field.
  decodeJson(desc, json, options);
  mergeFromJson(desc, message, json, options);
}

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

/**
 * Parses a UTF-8 JSON body. Of a repeated key, the last one counts, as in any JavaScript parser.
 * @param contentType of the request; a body without one counts as JSON
 * @throws TransportError UNSUPPORTED_MEDIA_TYPE, or VALIDATION for invalid JSON
 */
export function parseJson(bytes: Uint8Array, contentType: string | undefined): JsonValue {
  if (contentType !== undefined && mediaTypeOf(contentType) !== "application/json") {
    throw new TransportError("UNSUPPORTED_MEDIA_TYPE", "send the body as application/json");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch (cause) {
    // The parser's own message would repeat parts of the body.
    throw new TransportError("VALIDATION", "the body is not JSON", { cause });
  }
}
