import { Code, ConnectError, type ContextValues, createContextKey } from "@connectrpc/connect";
import type { CallContext } from "./call-context.ts";
import { CallValues } from "./call-values.ts";
import type { FailedCall } from "./error-mapping.ts";
import type { FinishedCall } from "./finished-call.ts";
import { peerAddressKey } from "./peer-address.ts";
import { requestIdKey } from "./request-id.ts";

/** A running call, created for each request that no plain route answers. */
export class Call implements FailedCall {
  readonly requestId: string;
  readonly values: ContextValues = new CallValues();
  readonly closing: AbortSignal | undefined;
  /** Set on the transport's own path. */
  context: CallContext | undefined;
  method = UNMATCHED;
  protocol: string;
  /** Whether the message was read and the interceptors have started. Earlier failures are the caller's fault. */
  isHandling = false;
  readonly #startMs = performance.now();
  readonly #onEnd: ((call: FinishedCall) => void) | undefined;
  #ended = false;

  constructor(
    { requestId, protocol, peerAddress, closing }: CallOrigin,
    onEnd: ((call: FinishedCall) => void) | undefined,
  ) {
    this.requestId = requestId;
    this.protocol = protocol;
    this.#onEnd = onEnd;
    this.values.set(requestIdKey, requestId);
    this.values.set(peerAddressKey, peerAddress);
    this.values.set(callKey, this);
    this.closing = closing;
  }

  /** Reports the end of the call. Later calls have no effect. */
  end(reason?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    const code =
      reason === undefined ? undefined : reason instanceof ConnectError ? reason.code : Code.Internal;
    this.#onEnd?.({
      method: this.method,
      protocol: this.protocol,
      code,
      durationMs: performance.now() - this.#startMs,
      requestId: this.requestId,
      values: this.values,
    });
  }
}

/** The method name of calls that match no method. */
export const UNMATCHED = "unmatched";

/** The facts about a call before its headers are read. */
export interface CallOrigin {
  readonly requestId: string;
  readonly protocol: string;
  /** The address of the connection; empty when the peer is already gone. */
  readonly peerAddress: string;
  /** Fires when the server is about to close. */
  readonly closing?: AbortSignal;
}

/** The context value that links a handler's context to its call. Private to the transport. */
export const callKey = createContextKey<Call | undefined>(undefined, { description: "call" });
