import {
  create,
  type DescMessage,
  type JsonObject,
  type Message,
  mergeFromJson,
  ScalarType,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { HttpBodySchema } from "../../../gen/proto/google/api/httpbody_pb.ts";
import { hasNoBody } from "../has-no-body.ts";
import { type ServerRequest, splitTarget } from "../node-http.ts";
import { wrongField } from "../transport-error.ts";
import { checkAgreement, type Parameter, parametersToJson, readQuery } from "./bind-parameters.ts";
import { decodeJson, excludes } from "./decode-json.ts";
import { protoPath, replacedMember } from "./field-path.ts";
import { parseJson } from "./parse-json.ts";
import { parseQuery } from "./parse-query.ts";
import type { PathMatch } from "./path-router.ts";
import { expectNoBody, expectNoEncoding, type ReadOctetsLimits, readOctets } from "./read-octets.ts";
import type { BodyRule, RestRoute } from "./rest-routes.ts";
import { shorten } from "./shorten.ts";

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
