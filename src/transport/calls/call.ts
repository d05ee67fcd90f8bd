import type { X509Certificate } from "node:crypto";
import {
  Code,
  ConnectError,
  type ContextKey,
  type ContextValues,
  createContextKey,
} from "@connectrpc/connect";
import { certificateKey, peerAddressKey } from "../http/node-http.ts";
import type { Ending } from "./ending.ts";
import { requestIdKey } from "./request-id.ts";

/** A running call, created for each request that no plain route answers. */
export class Call implements FailedCall {
  readonly requestId: string;
  readonly values: ContextValues = new CallValues();
  readonly closing: AbortSignal | undefined;
  /** How handlers wait for the end of the call. Set on the transport's own path. */
  context: EndingCall | undefined;
  method = UNMATCHED;
  protocol: string;
  /** Whether the message was read and the interceptors have started. Earlier failures are the caller's fault. */
  isHandling = false;
  readonly #startMs = performance.now();
  readonly #onEnd: ((call: FinishedCall) => void) | undefined;
  #ended = false;

  constructor(
    { requestId, protocol, peerAddress, certificate, closing }: CallOrigin,
    onEnd: ((call: FinishedCall) => void) | undefined,
  ) {
    this.requestId = requestId;
    this.protocol = protocol;
    this.#onEnd = onEnd;
    this.values.set(requestIdKey, requestId);
    this.values.set(peerAddressKey, peerAddress);
    if (certificate !== undefined) this.values.set(certificateKey, certificate);
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

/** The end of a call on the transport's own path. */
export interface EndingCall {
  readonly ending: Ending;
  /** Makes the end of the server end the call too. */
  endWhenClosing(closing: AbortSignal): void;
}

/** The known facts about a failed call. */
export interface FailedCall {
  readonly requestId: string;
  /** `package.Service/Method`, or `unmatched` when no method matches. */
  readonly method: string;
}

/** The method name of calls that match no method. */
export const UNMATCHED = "unmatched";

/** The facts about a call before its headers are read. */
export interface CallOrigin {
  readonly requestId: string;
  readonly protocol: string;
  /** The address of the connection; empty when the peer is already gone. */
  readonly peerAddress: string;
  /** The client's certificate; undefined without one. */
  readonly certificate?: X509Certificate | undefined;
  /** Fires when the server is about to close. */
  readonly closing?: AbortSignal;
}

/** The context value that links a handler's context to its call. Private to the transport. */
export const callKey = createContextKey<Call | undefined>(undefined, { description: "call" });

/** The context values of one call. They behave like the RPC library's, without closures per call. */
export class CallValues implements ContextValues {
  [id: symbol]: unknown;

  get<T>(key: ContextKey<T>): T {
    return key.id in this ? (this[key.id] as T) : key.defaultValue;
  }

  set<T>(key: ContextKey<T>, value: T): this {
    this[key.id] = value;
    return this;
  }

  delete(key: ContextKey<unknown>): this {
    delete this[key.id];
    return this;
  }
}

/** A finished call, for logs and metrics. Health, metrics and preflight requests are not calls. */
export interface FinishedCall {
  /** `package.Service/Method`, or `unmatched` when no method matches. */
  readonly method: string;
  /** grpc, grpc-web, connect or rest. */
  readonly protocol: string;
  /** `undefined` for success. */
  readonly code: Code | undefined;
  readonly durationMs: number;
  readonly requestId: string;
  /** The values that gate and interceptors have set, such as the project. */
  readonly values: ContextValues;
}
