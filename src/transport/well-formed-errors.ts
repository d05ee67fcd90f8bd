import type { ErrorMapping } from "./error-mapping.ts";

/**
 * Replaces lone surrogates in the messages of errors, which may quote what a caller sent in JSON: gRPC's percent-encoding
 * has no form for them.
 */
export function wellFormedErrors(errors: ErrorMapping): ErrorMapping {
  return {
    toConnectError(reason, call) {
      const error = errors.toConnectError(reason, call);
      const { rawMessage, message } = error;
      // An error may have been caught by others already, so it stays the same one.
      return Object.assign(error, { rawMessage: rawMessage.toWellFormed(), message: message.toWellFormed() });
    },
    httpStatus: (error) => errors.httpStatus(error),
  };
}
