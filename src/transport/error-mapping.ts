import type { ConnectError } from "@connectrpc/connect";

/** Converts failures into errors on the wire. The application supplies it, so the transport has no error catalogue. */
export interface ErrorMapping {
  /** Maps any thrown value. Returns an already mapped error unchanged. */
  toConnectError(reason: unknown, call: FailedCall): ConnectError;
  /** Returns the HTTP status over REST. */
  httpStatus(error: ConnectError): number;
}

/** The known facts about a failed call. */
export interface FailedCall {
  readonly requestId: string;
  /** `package.Service/Method`, or `unmatched` when no method matches. */
  readonly method: string;
}
