import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { escapeOnlyMessages } from "../grpc/grpc-messages.ts";
import { type Call, callKey } from "./call.ts";
import type { CallContext } from "./call-context.ts";
import type { CallParts, ErrorMapping, RequestGate } from "./call-parts.ts";
import { abortReason, untilAborted } from "./deadline.ts";
import { TransportError, type TransportFault } from "./transport-error.ts";

/**
 * Wraps the application's gate for the RPC library. Every call that the library serves passes here first, so here the
 * context is linked to the {@link Call}: the end of the context ends the call, and errors of the library itself
 * (malformed message, too large, deadline) are mapped before the library writes them.
 */
export function guardCalls(errors: ErrorMapping, gate: RequestGate | undefined): RequestGate {
  return async (context) => {
    const call = context.values.get(callKey);
    if (call === undefined) throw new Error("the call has no context");
    call.method = `${context.service.typeName}/${context.method.name}`;
    call.protocol = context.protocolName;
    hookAbort(context, call, errors);
    if (context.protocolName.startsWith("grpc")) escapeOnlyMessages(context.responseTrailer);
    const { signal } = context;
    const isConnectGet = context.protocolName === "connect" && context.requestMethod === "GET";
    if (gate === undefined && !isConnectGet && !signal.aborted) return;
    try {
      if (signal.aborted) throw abortReason(signal);
      if (gate !== undefined) await untilAborted(gate(context), signal);
      if (isConnectGet) checkConnectQuery(context.url);
    } catch (reason) {
      throw errors.toConnectError(classify(reason), call);
    }
  };
}

/**
 * Sends a call on the transport's own path through the gate. Throws the gate's refusal, or the reason of a call that has
 * already ended. Returns a promise only if the gate does.
 */
export function passGate(context: CallContext, gate: RequestGate | undefined): Promise<void> | undefined {
  context.throwIfEnded();
  const passing = gate?.(context);
  return passing === undefined ? undefined : context.untilAborted(passing);
}

/**
 * Marks when the request's message has been read, to tell failures before and after it apart. It must be the outermost
 * interceptor. A stream's first message is read behind the interceptors, so its errors are classified here.
 */
export const markHandling: Interceptor = (next) => (request) => {
  const call = request.contextValues.get(callKey);
  if (call === undefined) return next(request);
  if (request.stream) return next({ ...request, message: classified(request.message, call) });
  call.isHandling = true;
  return next(request);
};

async function* classified<T>(messages: AsyncIterable<T>, call: Call): AsyncGenerator<T> {
  try {
    for await (const message of messages) {
      call.isHandling = true;
      yield message;
    }
  } catch (reason) {
    throw classify(reason);
  }
}

/**
 * Converts an error that the RPC library raised while reading the request into the request's fault. Returns other
 * errors unchanged.
 */
export function classify(reason: unknown): unknown {
  if (!(reason instanceof ConnectError) || reason.details.length > 0) return reason;
  if (reason.cause instanceof TransportError) return reason.cause;
  const fault = FAULT_OF_CODE[reason.code];
  return fault === undefined ? reason : new TransportError(fault, reason.rawMessage, { cause: reason });
}

const FAULT_OF_CODE: Readonly<Partial<Record<Code, TransportFault>>> = {
  [Code.InvalidArgument]: "VALIDATION",
  // The library reports a message that does not decode as an internal error.
  [Code.Internal]: "VALIDATION",
  [Code.ResourceExhausted]: "BODY_TOO_LARGE",
  [Code.DeadlineExceeded]: "DEADLINE",
  [Code.Unimplemented]: "UNIMPLEMENTED",
};

function hookAbort(context: HandlerContext, call: Call, errors: ErrorMapping): void {
  // The library's context has `abort`, which it calls with the error just before it writes it.
  if (!hasAbort(context)) return;
  const { abort } = context;
  context.abort = (reason) => {
    const cause = reason ?? (context.signal.aborted ? context.signal.reason : undefined);
    if (cause instanceof ConnectError) {
      overwriteError(cause, errors.toConnectError(call.isHandling ? cause : classify(cause), call));
    }
    call.end(cause);
    abort(reason);
  };
}

function hasAbort(context: HandlerContext): context is HandlerContext & { abort(reason?: unknown): void } {
  return "abort" in context && typeof context.abort === "function";
}

/**
 * Copies `source` into `target`. The RPC library has already caught the error, so it cannot be replaced, but it is
 * written only later, so it can be changed in place.
 */
function overwriteError(target: ConnectError, source: ConnectError): void {
  if (target === source) return;
  const { code, rawMessage, message, details } = source;
  Object.assign(target, { code, rawMessage, message, details });
  source.metadata.forEach((value, key) => {
    target.metadata.set(key, value);
  });
}

/** Ends a failed call: maps the reason, aborts the handler, reports the end and sends the error by `exchange`. */
export function failCall(
  reason: unknown,
  context: CallContext,
  exchange: { fail(error: ConnectError): void },
  parts: Pick<CallParts, "errors" | "onError">,
): void {
  const { call } = context;
  const error = parts.errors.toConnectError(call.isHandling ? reason : classify(reason), call);
  context.abort(error);
  call.end(error);
  try {
    exchange.fail(error);
  } catch (cause) {
    parts.onError(cause);
  }
}

/**
 * Checks the message in the query of a Connect GET (connectrpc.com/docs/protocol, Unary-Get-Request), because the RPC
 * library reports invalid base64 as a server error.
 * @throws TransportError VALIDATION
 */
export function checkConnectQuery(url: string): void {
  const { search, searchParams } = new URL(url);
  if (searchParams.get("encoding") === "json" && !isUtf8(search)) {
    throw new TransportError("VALIDATION", "the query is not UTF-8");
  }
  if (searchParams.get("base64") !== "1") return;
  try {
    base64Decode(searchParams.get("message") ?? "");
  } catch (cause) {
    throw new TransportError("VALIDATION", "the message in the query is not base64", { cause });
  }
}

/** Whether the decoded escapes are UTF-8. The library would replace invalid bytes instead of refusing them. */
function isUtf8(query: string): boolean {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}
