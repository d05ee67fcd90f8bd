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
