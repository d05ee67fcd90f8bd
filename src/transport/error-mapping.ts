import type { ConnectError } from "@connectrpc/connect";

/** The call that failed, as far as it is known. */
export interface FailedCall {
  readonly requestId: string;
  /** `package.Service/Method`, or `unmatched` when no method was found. */
  readonly method: string;
}

/** How failures become errors on the wire. Given by the application, so that the transport knows no catalogue. */
export interface ErrorMapping {
  /** Maps anything thrown. An error that was mapped before comes back as it is. */
  toConnectError(reason: unknown, call: FailedCall): ConnectError;
  /** The HTTP status over REST. */
  httpStatus(error: ConnectError): number;
}
