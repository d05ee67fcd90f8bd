import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, Interceptor, MethodImplSpec, UnaryRequest } from "@connectrpc/connect";
import type { UnaryContext } from "./unary-context.ts";

/** A unary method and what implements it. */
export type UnarySpec = Extract<MethodImplSpec, { kind: "unary" }>;

type Next = Parameters<Interceptor>[0];

/**
 * Runs the implementation of a unary method behind the interceptors, the first outermost, and gives its reply.
 * Rejects with the reason of an abort as soon as the call is aborted, whether or not the implementation looks at its
 * signal, and so that every interceptor sees it.
 */
export async function invokeUnary(
  spec: UnarySpec,
  context: UnaryContext,
  message: Message,
  interceptors: readonly Interceptor[],
): Promise<Message> {
  const request = requestOf(context, message);
  // The response whose headers are the context's own.
  let own: object | undefined;
  const base = async (given: UnaryRequest) => {
    const output = spec.impl(given.message, given === request ? context : merged(context, given));
    const settled = output instanceof Promise ? await context.untilAborted(output) : output;
    const response = responseOf(context, normalize(spec.method.output, settled));
    own = response;
    return response;
  };
  let next = base as unknown as Next;
  for (let index = interceptors.length - 1; index >= 0; index--) next = interceptors[index]?.(next) ?? next;
  const response = await next(request);
  if (response.stream) throw new Error("an interceptor made a stream of a unary reply");
  if (response !== own) adoptHeaders(context, response);
  return response.message;
}

// Own properties, so that an interceptor's `{ ...request }` copies them; only what costs something waits in a getter.
function requestOf(context: UnaryContext, message: Message): UnaryRequest {
  return {
    stream: false,
    method: context.method,
    service: context.method.parent,
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

function responseOf(context: UnaryContext, message: Message) {
  return {
    stream: false as const,
    method: context.method,
    service: context.method.parent,
    message,
    get header() {
      return context.responseHeader;
    },
    get trailer() {
      return context.responseTrailer;
    },
  };
}

/** The context as an interceptor that passed on another request wants the implementation to see it. */
function merged(context: UnaryContext, request: UnaryRequest): HandlerContext {
  return {
    method: context.method,
    service: request.service,
    protocolName: context.protocolName,
    requestMethod: context.requestMethod,
    url: context.url,
    timeoutMs: () => context.timeoutMs(),
    requestHeader: request.header,
    signal: request.signal,
    values: request.contextValues,
    responseHeader: context.responseHeader,
    responseTrailer: context.responseTrailer,
  };
}

function adoptHeaders(
  context: UnaryContext,
  { header, trailer }: { header: Headers; trailer: Headers },
): void {
  replace(context.responseHeader, header);
  replace(context.responseTrailer, trailer);
}

function replace(target: Headers, source: Headers): void {
  if (target === source) return;
  for (const name of [...target.keys()]) target.delete(name);
  source.forEach((value, name) => {
    target.append(name, value);
  });
}

function normalize(desc: DescMessage, output: object): Message {
  return "$typeName" in output ? (output as Message) : create(desc, output as MessageInitShape<DescMessage>);
}
