import { Code, ConnectError, type ContextValues, createContextKey } from "@connectrpc/connect";
import type { CallContext } from "./call-context.ts";
import { CallValues } from "./call-values.ts";
import type { FailedCall } from "./error-mapping.ts";
import type { FinishedCall } from "./finished-call.ts";
import { peerAddressKey } from "./peer-address.ts";
import { requestIdKey } from "./request-id.ts";

/** The name of the method of calls that match none. */
export const UNMATCHED = "unmatched";

/** What is known of a call before its headers are looked at. */
export interface CallOrigin {
  readonly requestId: string;
  readonly protocol: string;
  /** Of the connection; empty when the peer is gone already. */
  readonly peerAddress: string;
  /** Fires when the server is about to close. */
  readonly closing?: AbortSignal;
}

/** A call under way. One exists for each request that is not answered by a plain route. */
export class Call implements FailedCall {
  readonly requestId: string;
  readonly values: ContextValues = new CallValues();
  readonly closing: AbortSignal | undefined;
  /** On the transport's own path. */
  context: CallContext | undefined;
  method = UNMATCHED;
  protocol: string;
  /** Whether the message was read and the interceptors have begun; failures before that are the caller's. */
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

  /** Reports the end of the call, once; later ends are ignored. */
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

/** The context value that leads from a handler's context to its call. Private to the transport. */
export const callKey = createContextKey<Call | undefined>(undefined, { description: "call" });
