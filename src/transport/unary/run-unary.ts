import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { ConnectError, Interceptor, MethodImplSpec, UnaryRequest } from "@connectrpc/connect";
import type { CallContext } from "../calls/call-context.ts";
import type { CallParts } from "../calls/call-parts.ts";
import { failCall, passGate } from "../calls/guard-call.ts";
import { adoptHeaders, contextFor, intercepted, normalize } from "../calls/interceptors.ts";

/** Serves one unary call: gate, request, interceptors, implementation, reply. Never rejects. */
export async function runUnary(
  spec: UnarySpec,
  context: CallContext,
  exchange: UnaryExchange,
  parts: CallParts,
): Promise<void> {
  const { call } = context;
  parts.live.add(context);
  try {
    const passing = passGate(context, parts.gate);
    if (passing !== undefined) await passing;
    const receiving = exchange.receive();
    const message = receiving instanceof Promise ? await receiving : receiving;
    call.isHandling = true;
    const output = await invokeUnary(spec, context, message, parts.interceptors);
    const replying = exchange.reply(output);
    if (replying !== undefined) await replying;
    context.finish();
    call.end();
  } catch (reason) {
    failCall(reason, context, exchange, parts);
  } finally {
    parts.live.delete(context);
  }
}

/** A protocol's way to receive a request and to send a reply. */
export interface UnaryExchange {
  /** Reads the request message. Called once, after the gate. Rejects with the reason when the call is aborted. */
  receive(): Message | Promise<Message>;
  /** Writes the reply. Rejects only while nothing is written. */
  reply(output: Message): void | Promise<void>;
  /** Writes the error, if the caller is still connected. */
  fail(error: ConnectError): void;
}

/**
 * Runs the implementation of a unary method behind the interceptors, the first outermost, and returns its reply. When
 * the call is aborted, it rejects at once with the reason, even if the implementation ignores its signal, and in a way
 * that every interceptor sees.
 */
export async function invokeUnary(
  spec: UnarySpec,
  context: CallContext,
  message: Message,
  interceptors: readonly Interceptor[],
): Promise<Message> {
  const request = requestOf(context, spec.method, message);
  // The response that shares the context's own headers.
  let own: object | undefined;
  const base = async (given: UnaryRequest) => {
    const output = spec.impl(given.message, given === request ? context : contextFor(context, given));
    const settled = output instanceof Promise ? await context.untilAborted(output) : output;
    const response = responseOf(context, spec.method, normalize(spec.method.output, settled));
    own = response;
    return response;
  };
  const response = await intercepted(base, interceptors)(request);
  if (response.stream) throw new Error("an interceptor turned a unary reply into a stream");
  if (response !== own) {
    adoptHeaders(context.responseHeader, response.header);
    adoptHeaders(context.responseTrailer, response.trailer);
  }
  return response.message;
}

/** A unary method and its implementation. */
export type UnarySpec = Extract<MethodImplSpec, { kind: "unary" }>;

// Own properties, so that an interceptor's `{ ...request }` copies them. Only expensive ones are getters.
function requestOf(context: CallContext, method: DescMethodUnary, message: Message): UnaryRequest {
  return {
    stream: false,
    method,
    service: method.parent,
    requestMethod: context.requestMethod,
    url: context.url,
    message,
    contextValues: context.values,
    header: context.requestHeader,
    get signal() {
      return context.signal;
    },
  };
}

function responseOf(context: CallContext, method: DescMethodUnary, message: Message) {
  return {
    stream: false as const,
    method,
    service: method.parent,
    message,
    get header() {
      return context.responseHeader;
    },
    get trailer() {
      return context.responseTrailer;
    },
  };
}
