import { type JsonObject, ScalarType } from "@bufbuild/protobuf";
import type { HttpBinding } from "./http-bindings.ts";
import { headerRefs } from "./reply-headers.ts";

/** The schema of google.rpc.Status, which errors are and a stream may end with. */
export const STATUS_REF: JsonObject = { $ref: "#/components/schemas/google.rpc.Status" };

/**
 * The replies of a server stream, by status. OpenAPI 3.1 has no word for the items of a stream; to JSON Schema it is a
 * text whose content is a list.
 * @param message the schema of one message
 */
export function streamReplies(message: JsonObject): JsonObject {
  const failure = { type: "object", properties: { error: STATUS_REF }, required: ["error"] };
  return {
    200: {
      description: "Messages until the stream ends, in the form that the header `accept` asks for.",
      headers: headerRefs("cache-control", "x-request-id"),
      content: {
        "application/x-ndjson": {
          schema: {
            type: "string",
            description: "One message a line. A stream that fails ends with a line that has the error.",
            contentMediaType: "application/x-ndjson",
            contentSchema: { type: "array", items: { anyOf: [message, failure] } },
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
      headers: headerRefs("cache-control", "x-request-id"),
    },
  };
}

/** Request headers that go with streams: an EventSource that connects again says where it was. */
export function streamParameters({ method }: HttpBinding): JsonObject[] {
  const hasCursor = method.input.fields.some(
    (field) => field.name === "cursor" && field.scalar === ScalarType.STRING,
  );
  if (method.methodKind !== "server_streaming" || !hasCursor) return [];
  const description = "The `id` of the last event seen. Fills `cursor` where the request has none.";
  return [{ name: "last-event-id", in: "header", description, schema: { type: "string" } }];
}
