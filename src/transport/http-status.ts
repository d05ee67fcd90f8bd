import { Code } from "@connectrpc/connect";

/** Returns the HTTP status of an RPC code according to google/rpc/code.proto. */
export function httpStatusOfCode(code: Code): number {
  return HTTP_STATUS[code];
}

/** Adds the header that a reply with the status 401 must have (RFC 9110, 15.5.2). */
export function addChallenge(status: number, headers: Headers): void {
  if (status === 401) headers.set("www-authenticate", "Bearer");
}

const HTTP_STATUS: Readonly<Record<Code, number>> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};
