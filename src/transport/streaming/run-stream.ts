import type { Message } from "@bufbuild/protobuf";
import type { ConnectError, StreamResponse } from "@connectrpc/connect";
import type { Call } from "../call.ts";
import type { CallContext } from "../call-context.ts";
import type { CallParts } from "../call-parts.ts";
import { failCall } from "../fail-call.ts";
import { classify } from "../guard-call.ts";
import { adoptHeaders } from "../interceptors.ts";
import { invokeStream, type StreamSpec } from "./invoke-stream.ts";

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
  context.throwIfEnded();
  const passing = parts.gate?.(context);
  if (passing !== undefined) await context.untilAborted(passing);
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
