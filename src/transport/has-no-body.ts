import type { ServerRequest } from "./node-http.ts";

/** Whether the head of a request announces no body. */
export function hasNoBody(request: ServerRequest): boolean {
  if ("stream" in request) return request.stream.endAfterHeaders;
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  return (length === undefined || length === "0") && encoding === undefined;
}
