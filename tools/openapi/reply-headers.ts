import type { JsonObject } from "@bufbuild/protobuf";

/** Headers of replies, for `components`. */
export const REPLY_HEADERS: JsonObject = {
  "accept-ranges": header("`bytes`: the route takes the header `range`."),
  "cache-control": header("How long the reply may be kept."),
  "content-range": header("Which bytes these are, and of how many."),
  etag: header("Names the octets, for `if-none-match` and `if-range`."),
  "retry-after": {
    description: "Seconds after which a retry may help.",
    schema: { type: "integer", minimum: 0 },
  },
  "x-request-id": header("Names this call in the server's log. The caller's own, if the request had one."),
};

/** References to headers of {@link REPLY_HEADERS}. */
export function headerRefs(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(description: string): JsonObject {
  return { description, schema: { type: "string" } };
}
