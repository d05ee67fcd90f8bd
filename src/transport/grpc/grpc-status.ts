import type { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";

/** Adds the status of a failed call to `target`, and returns it. */
export function setGrpcStatus(target: Headers, error: ConnectError): Headers {
  setTrailerStatus(target, error);
  target.set(GRPC_MESSAGE, encodeGrpcMessage(error.rawMessage));
  return target;
}

/**
 * Percent-encodes a text for `grpc-message` (gRPC over HTTP/2, Responses): `%`, the bytes outside of printable ASCII, and
 * a space at either end, which a header cannot have. Some clients, such as grpc-js, show other escapes as they are.
 */
export function encodeGrpcMessage(text: string): string {
  return text.toWellFormed().replace(ESCAPED, encodeURIComponent);
}

/** Makes the RPC library write `grpc-message` as {@link encodeGrpcMessage} does. It would escape far more. */
export function escapeOnlyMessages(trailers: Headers): void {
  const set = trailers.set.bind(trailers);
  trailers.set = (name, value) =>
    set(name, name.toLowerCase() === GRPC_MESSAGE ? encodeGrpcMessage(decodeURIComponent(value)) : value);
}

const GRPC_MESSAGE = "grpc-message";
const ESCAPED = /[^\x20-\x24\x26-\x7e]+|^ | $/g;
