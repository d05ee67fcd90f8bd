import type { IncomingHttpHeaders } from "node:http";
import type { ContextValues } from "@connectrpc/connect";

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
