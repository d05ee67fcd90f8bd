import type { ConnectError } from "@connectrpc/connect";
import { boundDetails } from "./bound-details.ts";
import { cutText } from "./cut-text.ts";
import type { ErrorMapping } from "./error-mapping.ts";

/**
 * Bounds the size of errors. They may quote a caller's text, and peers drop replies with more than 8 KiB of headers;
 * gRPC sends message and details in headers. Message and details together stay below that limit on every protocol. Lone
 * surrogates, which no protocol can encode, are replaced.
 */
export function boundErrors(errors: ErrorMapping): ErrorMapping {
  return {
    toConnectError: (reason, call) => bound(errors.toConnectError(reason, call)),
    httpStatus: (error) => errors.httpStatus(error),
  };
}

/** The budget of a message with every special character percent-encoded, which is no shorter than gRPC's own form. */
const MESSAGE_BYTES = 1024;

/** Changes the error in place, because other code may already hold it. */
function bound(error: ConnectError): ConnectError {
  const { rawMessage, message, details } = error;
  const text = cutText(rawMessage, MESSAGE_BYTES, percentEncodedBytes);
  // The library prefixes the message with the code.
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
