import type { ConnectError } from "@connectrpc/connect";
import { boundDetails } from "./bound-details.ts";
import { cutText } from "./cut-text.ts";
import type { ErrorMapping } from "./error-mapping.ts";

/** A message in gRPC's percent-encoding, which is its longest form. */
const MESSAGE_BYTES = 1024;

/**
 * Keeps errors small, because what they quote may be a caller's, and peers drop replies with more than 8 KiB of headers:
 * over gRPC the message and the details travel in headers. Message and details together stay below that on every
 * protocol. Lone surrogates, which no protocol can say, are replaced.
 */
export function boundErrors(errors: ErrorMapping): ErrorMapping {
  return {
    toConnectError: (reason, call) => bound(errors.toConnectError(reason, call)),
    httpStatus: (error) => errors.httpStatus(error),
  };
}

/** An error may have been caught by others already, so it stays the same one. */
function bound(error: ConnectError): ConnectError {
  const { rawMessage, message, details } = error;
  const text = cutText(rawMessage, MESSAGE_BYTES, percentEncodedBytes);
  // The library puts the code in front.
  const prefix = message.endsWith(rawMessage) ? message.slice(0, message.length - rawMessage.length) : "";
  return Object.assign(error, {
    rawMessage: text,
    message: prefix + text,
    details: boundDetails(details),
  });
}

function percentEncodedBytes(text: string): number {
  return encodeURIComponent(text).length;
}
