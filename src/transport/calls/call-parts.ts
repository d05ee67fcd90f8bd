import type { IncomingHttpHeaders } from "node:http";
import type { ConnectError, ContextValues, HandlerContext, Interceptor } from "@connectrpc/connect";
import type { Limits } from "../limits.ts";
import type { FailedCall } from "./call.ts";
import type { CallContext } from "./call-context.ts";
import type { JsonForm } from "./message-codec.ts";

/** The parts that every call on the transport's own path passes through, on every protocol. */
export interface CallParts {
  readonly gate: RequestGate | undefined;
  /** In order, the outermost first. */
  readonly interceptors: readonly Interceptor[];
  readonly errors: ErrorMapping;
  readonly limits: Limits;
  readonly jsonForm: JsonForm;
  /** The running calls, so that a shutdown can stop them. */
  readonly live: Set<CallContext>;
  /** Called with failures that no reply can report. */
  readonly onError: (error: unknown) => void;
}

/** Checks the headers of a call before its body is read. It refuses a call by throwing. */
export type RequestGate = (context: HandlerContext) => void | Promise<void>;

/**
 * Serves a call inside a context of its own, such as a trace span. It must call `serve` once, synchronously, and return
 * its result.
 */
export type CallWrapper = <T>(call: StartedCall, serve: () => T) => T;

/** A call that begins. Health, metrics and preflight requests are not calls. */
export interface StartedCall {
  readonly headers: IncomingHttpHeaders;
  /** The call's own values, shared with gate, interceptors and handlers. */
  readonly values: ContextValues;
}

/** Converts failures into errors on the wire. The application supplies it, so the transport has no error catalogue. */
export interface ErrorMapping {
  /** Maps any thrown value. Returns an already mapped error unchanged. */
  toConnectError(reason: unknown, call: FailedCall): ConnectError;
  /** Returns the HTTP status over REST. */
  httpStatus(error: ConnectError): number;
}
