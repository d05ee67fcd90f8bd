import type { IncomingHttpHeaders } from "node:http";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Limits } from "../limits.ts";
import { wrongField } from "./transport-error.ts";

const GRPC_UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 0.001,
  n: 0.000001,
};

/**
 * Returns the deadline of a Connect or REST call from its `connect-timeout-ms`, capped at the maximum. Unary calls
 * without one get the default. Returns `undefined` for no deadline and `"malformed"` for a value that the caller must
 * refuse.
 */
export function deadlineOf(
  header: string | undefined,
  isUnary: boolean,
  limits: Limits,
): number | undefined | "malformed" {
  if (header === undefined) return isUnary ? limits.defaultDeadlineMs : undefined;
  return /^\d{1,10}$/.test(header) ? Math.min(Number(header), limits.maxDeadlineMs) : "malformed";
}

/**
 * Returns the deadline of a REST call, which may use either header; the shorter one counts.
 * @throws TransportError VALIDATION that names the malformed header
 */
export function restDeadlineOf(
  headers: IncomingHttpHeaders,
  isUnary: boolean,
  limits: Limits,
): number | undefined {
  const given = ["connect-timeout-ms", "grpc-timeout"].flatMap((name) => {
    const header = headers[name];
    if (header === undefined) return [];
    const isGrpc = name === "grpc-timeout";
    const text = isGrpc ? parseGrpcTimeout(String(header)) : String(header);
    const millis = deadlineOf(text, isUnary, limits);
    if (typeof millis === "number") return [millis];
    throw wrongField(
      name,
      isGrpc ? "expected up to 8 digits and a unit, such as 100m" : "expected decimal digits",
    );
  });
  if (given.length > 0) return Math.min(...given);
  return isUnary ? limits.defaultDeadlineMs : undefined;
}

/** Returns the deadline of a gRPC call from its `grpc-timeout`, with the default for its kind of call. */
export function grpcDeadlineOf(
  header: string | string[] | undefined,
  defaultMs: number | undefined,
  limits: Limits,
): number | undefined | "malformed" {
  if (header === undefined) return defaultMs;
  const millis = parseGrpcTimeout(String(header));
  return millis === "malformed" ? millis : Math.min(Number(millis), limits.maxDeadlineMs);
}

/**
 * Rewrites the deadline headers of a gRPC, gRPC-web or Connect request to the limits, because the RPC library refuses a
 * longer one and has no default. Malformed values are left for the library to refuse.
 */
export function boundDeadlineHeaders(
  headers: NodeJS.Dict<string | string[]>,
  isUnary: boolean,
  limits: Limits,
): void {
  const isGrpc = String(headers["content-type"] ?? "").startsWith("application/grpc");
  const name = isGrpc ? "grpc-timeout" : "connect-timeout-ms";
  const given = headers[name];
  if (Array.isArray(given)) return;
  const millis = isGrpc && given !== undefined ? parseGrpcTimeout(given) : given;
  const bounded = deadlineOf(millis, isUnary, limits);
  if (bounded === undefined || bounded === "malformed") return;
  // A deadline within the limits keeps its own, finer unit.
  if (given !== undefined && Number(millis) <= limits.maxDeadlineMs) return;
  headers[name] = isGrpc ? `${bounded}m` : String(bounded);
}

function parseGrpcTimeout(text: string): string {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  if (match === null) return "malformed";
  const millis = Number(match[1]) * (GRPC_UNIT_MS[match[2] ?? ""] ?? 1);
  return String(Math.min(Math.ceil(millis), 9_999_999_999));
}

/**
 * Ends a call when its signal fires (deadline passed, caller gone, process stopping), even if the handler ignores the
 * signal. It must be the innermost interceptor, so that all others see the failure.
 */
export const deadlineInterceptor: Interceptor = (next) => async (request) => {
  const response = await untilAborted(next(request), request.signal);
  if (!response.stream) return response;
  return { ...response, message: abortable(response.message, request.signal) };
};

/** Resolves with the promise, or rejects with the signal's reason as a ConnectError if that comes first. */
export function untilAborted<T>(promise: Promise<T> | T, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(abortReason(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Returns the reason of an aborted signal. */
export function abortReason(signal: AbortSignal): ConnectError {
  const { reason } = signal;
  return reason instanceof ConnectError
    ? reason
    : new ConnectError("the call was canceled", Code.Canceled, undefined, undefined, reason);
}

async function* abortable<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const result = await untilAborted(iterator.next(), signal);
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    // The handler may wait forever, so its end is not awaited.
    iterator.return?.().catch(() => {});
  }
}
