import type { Message } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { CallContext } from "../call-context.ts";
import type { CallParts } from "../call-parts.ts";
import { failCall } from "../fail-call.ts";
import { invokeUnary, type UnarySpec } from "./invoke-unary.ts";

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
    context.throwIfEnded();
    const passing = parts.gate?.(context);
    if (passing !== undefined) await context.untilAborted(passing);
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
