import type { IncomingHttpHeaders } from "node:http";
import type { ContextValues } from "@connectrpc/connect";

/** A call that begins. Health, metrics and preflight requests are no calls. */
export interface StartedCall {
  readonly headers: IncomingHttpHeaders;
  /** The call's own, which gate, interceptors and handlers see too. */
  readonly values: ContextValues;
}

/** Serves a call, within whatever it sets up for it. Must call `serve` once, at once, and return what that returns. */
export type CallWrapper = <T>(call: StartedCall, serve: () => T) => T;
