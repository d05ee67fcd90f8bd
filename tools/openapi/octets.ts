import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { HttpBodySchema } from "../../gen/proto/google/api/httpbody_pb.ts";
import type { HttpBinding } from "./http-bindings.ts";
import { headerRefs } from "./reply-headers.ts";

/** The content of a body of octets. `format` is for client generators; for OpenAPI the media type is enough. */
export const OCTETS_CONTENT: JsonObject = {
  "application/octet-stream": { schema: { type: "string", format: "binary" } },
};

/** Whether the request's body is the octets of a google.api.HttpBody. */
export function takesOctets({ method, body }: HttpBinding): boolean {
  if (body === "none") return false;
  return isHttpBody(body === "message" ? method.input : body.message);
}

/** Whether the reply's body is the octets of a google.api.HttpBody, or of a stream of them. */
export function givesOctets({ method, replyField }: HttpBinding): boolean {
  return isHttpBody(replyField === undefined ? method.output : replyField.message);
}

/** Whether callers can request the octets in parts, and conditionally. */
export function isCached(binding: HttpBinding): boolean {
  return givesOctets(binding) && binding.verb === "get";
}

/** Returns the replies of a method that returns octets, by status. */
export function octetReplies(binding: HttpBinding): JsonObject {
  const content = OCTETS_CONTENT;
  if (!isCached(binding)) {
    return { 200: { description: "The octets.", headers: headerRefs("x-request-id"), content } };
  }
  const cached = ["cache-control", "etag", "x-request-id"];
  return {
    200: { description: "All octets.", headers: headerRefs("accept-ranges", ...cached), content },
    206: {
      description: "The range asked for.",
      headers: headerRefs("accept-ranges", "content-range", ...cached),
      content,
    },
    304: { description: "The octets named in `if-none-match` still hold.", headers: headerRefs(...cached) },
  };
}

/** The request headers for octets. */
export function octetParameters(binding: HttpBinding): JsonObject[] {
  if (!isCached(binding)) return [];
  return [
    headerParameter("if-none-match", "An `etag`, for a reply without a body if it holds."),
    headerParameter("if-range", "An `etag`, for all octets unless it holds."),
    headerParameter("range", "One range of bytes, such as `bytes=0-1023`."),
  ];
}

function headerParameter(name: string, description: string): JsonObject {
  return { name, in: "header", description, schema: { type: "string" } };
}

function isHttpBody(message: DescMessage | undefined): boolean {
  return message?.typeName === HttpBodySchema.typeName;
}
