import { create, type JsonObject, type Message, mergeFromJson } from "@bufbuild/protobuf";
import { type ServerRequest, splitTarget } from "../node-http.ts";
import { wrongField } from "../transport-error.ts";
import { checkAgreement, type PathBinding, pathToJson, queryToJson } from "./bind-parameters.ts";
import { decodeJson } from "./decode-json.ts";
import { protoPath } from "./field-path.ts";
import type { PathMatch } from "./path-router.ts";
import { expectNoBody, type ReadJsonLimits, readJson } from "./read-json.ts";
import type { RestRoute } from "./rest-routes.ts";

/**
 * Makes the request message of a matched route from body, query and path.
 * @throws TransportError that names the field where one is at fault
 */
export async function decodeRequest(
  match: PathMatch<RestRoute>,
  request: ServerRequest,
  limits: ReadJsonLimits,
): Promise<Message> {
  const { spec, body } = match.value;
  const desc = spec.method.input;
  const bindings = bindingsOf(match);
  const message = await decodeBody(match.value, request, limits);
  const { query } = splitTarget(request);
  if (query !== "") {
    if (body.kind === "message") throw wrongField(firstName(query), "this route takes no query parameters");
    const taken = new Set(bindings.map(({ path }) => protoPath(path)));
    if (body.kind === "field") taken.add(body.field.name);
    merge(message, desc, queryToJson(desc, query, taken));
  }
  if (bindings.length > 0) {
    const json = pathToJson(bindings);
    checkAgreement(desc, message, bindings, decodeJson(desc, json));
    mergeFromJson(desc, message, json);
  }
  return message;
}

function bindingsOf(match: PathMatch<RestRoute>): PathBinding[] {
  return [...match.bindings].map(([name, text]) => {
    if (text === undefined) throw wrongField(name, "the escapes in the path are not UTF-8");
    return { path: match.value.variables(name), text };
  });
}

async function decodeBody(
  { spec, body }: RestRoute,
  request: ServerRequest,
  limits: ReadJsonLimits,
): Promise<Message> {
  const desc = spec.method.input;
  if (body.kind === "none") {
    await expectNoBody(request, limits);
    return create(desc);
  }
  const json = await readJson(request, limits);
  if (json === undefined) return create(desc);
  return decodeJson(desc, body.kind === "message" ? json : { [body.field.jsonName]: json });
}

function merge(message: Message, desc: RestRoute["spec"]["method"]["input"], json: JsonObject): void {
  // Decoded apart first, for an error that names the field.
  decodeJson(desc, json);
  mergeFromJson(desc, message, json);
}

function firstName(query: string): string {
  return new URLSearchParams(query).keys().next().value ?? "";
}
