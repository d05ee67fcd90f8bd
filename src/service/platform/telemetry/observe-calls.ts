import { Code, type ContextValues } from "@connectrpc/connect";
import type { FinishedCall } from "../../../transport/calls/call.ts";
import type { Log } from "./logger.ts";
import type { Metrics } from "./metrics.ts";
import { endCallSpan, traceIdOf } from "./trace-calls.ts";

/**
 * Ends the span of each call, logs one line for it, and counts it in `service_request_duration_seconds` by method, code
 * and network, with the trace as exemplar if it is recorded. Methods come from the contract. Paths without a method share
 * one label. Calls that fail because of the caller share another, so that a caller cannot create a series for every method
 * and code.
 * Pass the result to the server as `onCallEnd`: it then also sees calls that are rejected before any interceptor.
 */
export function observeCalls({
  logger,
  metrics,
  describe,
}: CallObserverOptions): (call: FinishedCall) => void {
  const durations = metrics.exemplified(
    "request_duration_seconds",
    "Time from the head of a request to the end of its call.",
    ["method", "code", "network"] as const,
    BUCKETS_SECONDS,
  );
  return (call) => {
    const { method, protocol, code, durationMs, requestId, values } = call;
    const traceId = traceIdOf(values);
    const codeName = code === undefined ? "ok" : codeToLabel(code);
    const label = code === undefined || !REFUSALS.has(code) ? method : REFUSED;
    const described = describe?.(values);
    const network = described?.["network"] ?? "";
    durations.observe({ method: label, code: codeName, network }, durationMs / 1000, endCallSpan(call));
    const fields = {
      method,
      protocol,
      code: codeName,
      durationMs: Math.round(durationMs * 10) / 10,
      requestId,
      ...(traceId !== undefined && { traceId }),
    };
    logger.info({ ...fields, ...described }, "call");
  };
}

/** Options of {@link observeCalls}. */
export interface CallObserverOptions {
  readonly logger: Log;
  readonly metrics: Pick<Metrics, "exemplified">;
  /**
   * Returns more fields for the log line, such as the project id that the gate stores in the context. Its `network` is
   * also a label: a served network, or nothing for a call that belongs to none.
   */
  readonly describe?: (values: ContextValues) => Readonly<Record<string, string>>;
}

const BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The method label of calls that fail because of the caller. */
const REFUSED = "refused";
const REFUSALS: ReadonlySet<Code> = new Set([
  Code.Canceled,
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.PermissionDenied,
  Code.Unauthenticated,
  Code.ResourceExhausted,
  Code.FailedPrecondition,
  Code.Aborted,
  Code.OutOfRange,
  Code.Unimplemented,
]);

function codeToLabel(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
