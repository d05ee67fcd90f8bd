import { type JsonObject, ScalarType } from "@bufbuild/protobuf";
import type { HttpBinding } from "./http-bindings.ts";
import { headerRefs } from "./reply-headers.ts";

/** The schema of google.rpc.Status, the body of errors and the possible end of a stream. */
export const STATUS_REF: JsonObject = { $ref: "#/components/schemas/google.rpc.Status" };

/**
 * Returns the replies of a server stream, by status. OpenAPI 3.1 cannot describe the items of a stream; for JSON Schema
 * it is a text whose content is a list.
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

/** The request headers for streams: a reconnecting EventSource sends its last position. */
export function streamParameters({ method }: HttpBinding): JsonObject[] {
  const hasCursor = method.input.fields.some(
    (field) => field.name === "cursor" && field.scalar === ScalarType.STRING,
  );
  if (method.methodKind !== "server_streaming" || !hasCursor) return [];
  const description = "The `id` of the last event seen. Fills `cursor` where the request has none.";
  return [{ name: "last-event-id", in: "header", description, schema: { type: "string" } }];
}
