/** A method of the node that answers one request with a stream of messages. */
export interface StreamingMethod {
  /** `/package.Service/Method` */
  readonly path: string;
  /** Sends messages until the returned function is called. Throws RpcFailure to refuse the call. */
  open(request: Uint8Array, stream: OutgoingStream): () => void;
}

/** The caller's end of a stream. */
export interface OutgoingStream {
  send(message: Uint8Array): void;
  /** Breaks the connection without a status. */
  cut(): void;
}

/** The maximum number of bytes of a stream that its caller may leave unread. */
export const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
