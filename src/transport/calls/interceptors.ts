import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext, Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import type { CallContext } from "./call-context.ts";

/**
 * Returns a function that calls `base` behind the interceptors, the first outermost. `base` takes only requests of its
 * own kind.
 */
export function intercepted<Request extends UnaryRequest | StreamRequest>(
  base: (request: Request) => Promise<object>,
  interceptors: readonly Interceptor[],
): Next {
  let next = base as unknown as Next;
  for (let index = interceptors.length - 1; index >= 0; index--) next = interceptors[index]?.(next) ?? next;
  return next;
}

type Next = Parameters<Interceptor>[0];

/** Returns the context that the implementation sees when an interceptor has passed on another request. */
export function contextFor(context: CallContext, request: UnaryRequest | StreamRequest): HandlerContext {
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

/** Copies the headers of an interceptor's response. */
export function adoptHeaders(target: Headers, source: Headers): void {
  if (target === source) return;
  for (const name of [...target.keys()]) target.delete(name);
  source.forEach((value, name) => {
    target.append(name, value);
  });
}

/** Converts an implementation's result to a message. */
export function normalize(desc: DescMessage, output: object): Message {
  return "$typeName" in output ? (output as Message) : create(desc, output as MessageInitShape<DescMessage>);
}
