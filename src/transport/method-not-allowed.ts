import type { ServerReply } from "./node-http.ts";
import { TransportError } from "./transport-error.ts";

/** Creates the error for a path that does not support the request's method, and lists the supported ones in `allow`. */
export function methodNotAllowed(reply: ServerReply, allowed: readonly string[]): TransportError {
  reply.setHeader("allow", allowed.join(", "));
  return new TransportError("METHOD_NOT_ALLOWED", "the method is not allowed on this path");
}
