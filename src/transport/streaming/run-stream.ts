import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { Call } from "../call.ts";
import type { CallContext } from "../call-context.ts";
import type { CallParts } from "../call-parts.ts";
import { failCall } from "../fail-call.ts";
import { classify } from "../guard-call.ts";
import { adoptHeaders } from "../interceptors.ts";
import { invokeStream, type StreamSpec } from "./invoke-stream.ts";

/** One protocol's way to take a request of one message and to give a reply of many. */
export interface StreamExchange {
  /** Reads the request message. Called once, after the gate. The second is to be called if that message is good. */
  receive(): Promise<{ readonly message: Message; expectEnd(): void }>;
  /** Writes a message, behind the head if it is the first. Resolves when the reader can take more. */
  write(output: Message): Promise<void>;
  /** Ends the reply after the last message. */
  end(): void;
  /** Ends the reply with the error, if the caller is still there. */
  fail(error: ConnectError): void;
}

/**
 * Serves one server-streaming call: gate, request, interceptors, implementation, and each message once its reader has
 * taken those before it. Never rejects.
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
    const passing = parts.gate?.(context);
    if (passing !== undefined) await context.untilAborted(passing);
    const request = requestMessages(exchange, call);
    const { message, trailer } = await invokeStream(spec, context, request, parts.interceptors);
    messages = message[Symbol.asyncIterator]();
    for (;;) {
      let next: IteratorResult<Message> | undefined = await messages.next();
      if (next.done === true) break;
      const writing = exchange.write(next.value);
      // A stream that waits for its next message does not keep the last.
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
    // Whoever makes messages learns that no more are wanted, and is not waited for.
    messages?.return?.().catch(() => {});
  }
}

/** The request as interceptors see it, read when it is asked for. */
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
