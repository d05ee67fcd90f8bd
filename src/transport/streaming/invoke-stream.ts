import type { DescMethodServerStreaming, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type Interceptor,
  type MethodImplSpec,
  type StreamRequest,
  type StreamResponse,
} from "@connectrpc/connect";
import type { CallContext } from "../call-context.ts";
import { adoptHeaders, contextFor, intercepted, normalize } from "../interceptors.ts";

/**
 * Runs the implementation of a server-streaming method behind the interceptors, the first outermost. When the call is
 * aborted, the pending request or reply message fails at once with the reason, even if the implementation ignores its
 * signal, and in a way that every interceptor sees.
 */
export async function invokeStream(
  spec: StreamSpec,
  context: CallContext,
  input: AsyncIterable<Message>,
  interceptors: readonly Interceptor[],
): Promise<StreamResponse> {
  const request = requestOf(context, spec.method, input);
  const base = async (given: StreamRequest) => {
    const message = await context.untilAborted(onlyMessage(given.message));
    const output = spec.impl(message, given === request ? context : contextFor(context, given));
    return responseOf(context, spec.method, new AbortableMessages(output, spec.method, context));
  };
  const response = await intercepted(base, interceptors)(request);
  if (!response.stream) throw new Error("an interceptor turned a stream into a unary reply");
  adoptHeaders(context.responseHeader, response.header);
  return response;
}

/** A server-streaming method and its implementation. */
export type StreamSpec = Extract<MethodImplSpec, { kind: "server_streaming" }>;

async function onlyMessage(messages: AsyncIterable<Message>): Promise<Message> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) throw wrongCount("missing input message");
  if ((await iterator.next()).done !== true) throw wrongCount("received extra input message");
  return first.value;
}

function wrongCount(what: string): ConnectError {
  return new ConnectError(`protocol error: ${what} for server-streaming method`, Code.Unimplemented);
}

/** The implementation's messages. Waiting for one ends when the call ends. */
class AbortableMessages implements AsyncIterableIterator<Message> {
  readonly #made: AsyncIterator<object>;
  readonly #method: DescMethodServerStreaming;
  readonly #context: CallContext;

  constructor(made: AsyncIterable<object>, method: DescMethodServerStreaming, context: CallContext) {
    this.#made = made[Symbol.asyncIterator]();
    this.#method = method;
    this.#context = context;
    context.worker = this;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Message>> {
    return this.#context.interruptible((resolve, reject) => {
      this.#made.next().then((result) => {
        try {
          resolve(this.#normalized(result));
        } catch (reason) {
          reject(reason);
        }
      }, reject);
    });
  }

  #normalized({ done, value }: IteratorResult<object>): IteratorResult<Message> {
    return done === true ? END : { done: false, value: normalize(this.#method.output, value) };
  }

  return(): Promise<IteratorResult<Message>> {
    this.leave();
    return Promise.resolve(END);
  }

  /** The implementation may wait forever, so its end is not awaited. */
  leave(): void {
    this.#made.return?.().catch(() => {});
  }
}

const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

// Own properties, so that an interceptor's `{ ...request }` copies them. The AbortSignal is created on demand, because
// it costs a kilobyte.
function requestOf(
  context: CallContext,
  method: DescMethodServerStreaming,
  message: AsyncIterable<Message>,
): StreamRequest {
  return {
    stream: true,
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

function responseOf(
  context: CallContext,
  method: DescMethodServerStreaming,
  message: AsyncIterable<Message>,
): StreamResponse {
  return {
    stream: true,
    method,
    service: method.parent,
    message,
    header: context.responseHeader,
    trailer: context.responseTrailer,
  };
}
