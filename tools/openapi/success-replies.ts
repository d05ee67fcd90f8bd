import type { JsonObject } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { HttpBodySchema } from "../../gen/proto/google/api/httpbody_pb.ts";
import { fieldSchema, type TypeSchemas } from "./field-schema.ts";
import type { HttpBinding } from "./http-bindings.ts";

/** Headers of replies, for `components`. */
export const REPLY_HEADERS: JsonObject = {
  "accept-ranges": header("`bytes`: the route takes the header `range`."),
  "cache-control": header("How long the reply may be kept."),
  "content-range": header("Which bytes of how many these are."),
  etag: header("Names the octets, for `if-none-match` and `if-range`."),
  "retry-after": {
    description: "Seconds after which a retry may help.",
    schema: { type: "integer", minimum: 0 },
  },
  "x-request-id": header("Names this call in the server's log. The caller's own, if the request had one."),
};

/** The schema of google.rpc.Status, which errors are and a stream may end with. */
export const STATUS_REF: JsonObject = { $ref: "#/components/schemas/google.rpc.Status" };

/** References to headers of {@link REPLY_HEADERS}. */
export function headerRefs(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Whether the method answers with octets as they are. */
export function isOctets({ method }: HttpBinding): boolean {
  return method.output.typeName === HttpBodySchema.typeName;
}

/** Whether the octets can be read in parts. */
export function isRanged(binding: HttpBinding): boolean {
  return isOctets(binding) && binding.verb === "get" && binding.method.methodKind === "server_streaming";
}

/** The replies of a call that did not fail, by status. */
export function successReplies(binding: HttpBinding, types: TypeSchemas): JsonObject {
  if (isOctets(binding)) return octetReplies(binding);
  if (binding.method.methodKind === "server_streaming") return streamReplies(binding, types);
  const schema = replySchema(binding, types);
  return {
    200: {
      description: "OK",
      headers: headerRefs("x-request-id"),
      content: { "application/json": { schema } },
    },
  };
}

function replySchema({ method, replyField }: HttpBinding, types: TypeSchemas): JsonObject {
  if (replyField === undefined) return types.ofMessage(method.output, "output");
  const schema = fieldSchema(replyField, "output", types);
  // A part that is not set has no JSON, and a body must have some.
  const isAlways = replyField.presence === FeatureSet_FieldPresence.IMPLICIT;
  return isAlways ? schema : { anyOf: [schema, { type: "null" }] };
}

function octetReplies(binding: HttpBinding): JsonObject {
  // `format` tells generators of clients what OpenAPI 3.1 says with the media type alone.
  const content = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
  if (binding.verb !== "get") {
    return { 200: { description: "The octets.", headers: headerRefs("x-request-id"), content } };
  }
  const cached = ["cache-control", "etag", "x-request-id"];
  const whole = isRanged(binding) ? ["accept-ranges", ...cached] : cached;
  return {
    200: { description: "All octets.", headers: headerRefs(...whole), content },
    ...(isRanged(binding)
      ? {
          206: {
            description: "The range asked for.",
            headers: headerRefs("content-range", ...cached),
            content,
          },
        }
      : {}),
    304: { description: "The octets named in `if-none-match` still hold.", headers: headerRefs(...cached) },
  };
}

/** Request headers that go with octets. */
export function octetParameters(binding: HttpBinding): JsonObject[] {
  if (!isOctets(binding) || binding.verb !== "get") return [];
  const text = { type: "string" };
  const parameters = [
    {
      name: "if-none-match",
      in: "header",
      description: "An `etag`, for a reply without a body if it holds.",
      schema: text,
    },
  ];
  if (!isRanged(binding)) return parameters;
  return [
    ...parameters,
    {
      name: "if-range",
      in: "header",
      description: "An `etag`, for all octets unless it holds.",
      schema: text,
    },
    { name: "range", in: "header", description: "One range of bytes, such as `bytes=0-1023`.", schema: text },
  ];
}

function streamReplies({ method }: HttpBinding, types: TypeSchemas): JsonObject {
  const message = types.ofMessage(method.output, "output");
  const items = {
    anyOf: [message, { type: "object", properties: { error: STATUS_REF }, required: ["error"] }],
  };
  return {
    200: {
      description: "Messages until the stream ends. Which form they take is chosen by `accept`.",
      headers: headerRefs("x-request-id"),
      content: {
        "application/x-ndjson": {
          schema: {
            type: "string",
            description: "One message a line. A stream that fails ends with a line that has the error.",
            contentMediaType: "application/x-ndjson",
            contentSchema: { type: "array", items },
          },
        },
        "text/event-stream": {
          schema: {
            type: "string",
            description:
              "One message in the `data` of each event. A stream that fails ends with an event `error`, whose `data` is a google.rpc.Status.",
            contentMediaType: "text/event-stream",
            contentSchema: { type: "array", items: { anyOf: [message, STATUS_REF] } },
          },
        },
      },
    },
    204: {
      description: "To `text/event-stream` alone: there will be no more events, so do not connect again.",
      headers: headerRefs("x-request-id"),
    },
  };
}

/** Request headers that go with streams: an EventSource that connects again says where it was. */
export function streamParameters({ method }: HttpBinding): JsonObject[] {
  const hasCursor = method.input.fields.some(({ name }) => name === "cursor");
  if (method.methodKind !== "server_streaming" || !hasCursor) return [];
  const description = "The `id` of the last event seen. Takes the place of `cursor`.";
  return [{ name: "last-event-id", in: "header", description, schema: { type: "string" } }];
}

function header(description: string): JsonObject {
  return { description, schema: { type: "string" } };
}
