import type { ServerReply } from "./node-http.ts";
import { TransportError } from "./transport-error.ts";

/** The error for a path that exists but does not take the request's method. Names those it takes in `allow`. */
export function methodNotAllowed(reply: ServerReply, allowed: readonly string[]): TransportError {
  reply.setHeader("allow", allowed.join(", "));
  return new TransportError("METHOD_NOT_ALLOWED", "the method is not allowed on this path");
}
