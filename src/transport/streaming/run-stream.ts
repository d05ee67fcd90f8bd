import type { DescMethodServerStreaming, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type Interceptor,
  type MethodImplSpec,
  type StreamRequest,
  type StreamResponse,
} from "@connectrpc/connect";
import type { Call } from "../calls/call.ts";
import type { CallContext } from "../calls/call-context.ts";
import type { CallParts } from "../calls/call-parts.ts";
import { classify, failCall, passGate } from "../calls/guard-call.ts";
import { adoptHeaders, contextFor, intercepted, normalize } from "../calls/interceptors.ts";

/**
 * Serves one server-streaming call: gate, request, interceptors, implementation, and each message once the reader has
 * taken the previous ones. Never rejects.
 */
export async function runStream(
  spec: StreamSpec,
  context: CallContext,
  exchange: StreamExchange,
  parts: CallParts,
): Promise<void> {
  const { call } = context;
  parts.live.add(context);
  let messages: AsyncIterator<Message> | undefined;
  try {
    const { message, trailer } = await openReply(spec, context, exchange, parts);
    messages = message[Symbol.asyncIterator]();
    for (;;) {
      let next: IteratorResult<Message> | undefined = await messages.next();
      if (next.done === true) break;
      const writing = exchange.write(next.value);
      // Drops the last message while the stream waits for the next one.
      next = undefined;
      await writing;
    }
    adoptHeaders(context.responseTrailer, trailer);
    exchange.end();
    context.finish();
    call.end();
  } catch (reason) {
    failCall(reason, context, exchange, parts);
  } finally {
    parts.live.delete(context);
    // Tells the producer to stop, without waiting for it.
    messages?.return?.().catch(() => {});
  }
}

/** A protocol's way to receive one request message and to send many replies. */
export interface StreamExchange {
  /** Reads the request message. Called once, after the gate. The caller calls `expectEnd` if the message is valid. */
  receive(): Promise<{ readonly message: Message; expectEnd(): void }>;
  /** Writes a message, after the head if it is the first. Resolves when the reader can take more. */
  write(output: Message): Promise<void>;
  /** Ends the reply after the last message. */
  end(): void;
  /** Ends the reply with the error, if the caller is still connected. */
  fail(error: ConnectError): void;
}

/** A separate function, so that the request is not retained for the duration of the reply. */
async function openReply(
  spec: StreamSpec,
  context: CallContext,
  exchange: StreamExchange,
  parts: CallParts,
): Promise<StreamResponse> {
  const passing = passGate(context, parts.gate);
  if (passing !== undefined) await passing;
  return invokeStream(spec, context, requestMessages(exchange, context.call), parts.interceptors);
}

/** Reads the request on demand, for the interceptors. */
async function* requestMessages(exchange: StreamExchange, call: Call): AsyncGenerator<Message> {
  try {
    const { message, expectEnd } = await exchange.receive();
    call.isHandling = true;
    yield message;
    expectEnd();
  } catch (reason) {
    throw classify(reason);
  }
}

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
