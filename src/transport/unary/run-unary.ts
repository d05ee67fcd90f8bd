import type { Message } from "@bufbuild/protobuf";
import type { ConnectError, Interceptor } from "@connectrpc/connect";
import type { ErrorMapping } from "../error-mapping.ts";
import { classify, type RequestGate } from "../guard-call.ts";
import type { JsonForm } from "../json-form.ts";
import type { Limits } from "../limits.ts";
import { invokeUnary, type UnarySpec } from "./invoke-unary.ts";
import type { UnaryContext } from "./unary-context.ts";

/** What every unary call goes through, whatever its protocol. */
export interface UnaryParts {
  readonly gate: RequestGate | undefined;
  /** The first is outermost. */
  readonly interceptors: readonly Interceptor[];
  readonly errors: ErrorMapping;
  readonly limits: Limits;
  readonly jsonForm: JsonForm;
  /** The calls under way, so that they can be told to stop. */
  readonly live: Set<UnaryContext>;
  /** Hears of failures that no caller can be told. */
  readonly onError: (error: unknown) => void;
}

/** One protocol's way to take a request and to give a reply. */
export interface UnaryExchange {
  /** Reads the request message. Called once, after the gate. Rejects with the reason when the call is aborted. */
  receive(): Message | Promise<Message>;
  /** Writes the reply. Rejects only while nothing is written. */
  reply(output: Message): void | Promise<void>;
  /** Writes the error, if the caller is still there. */
  fail(error: ConnectError): void;
}

/** Serves one unary call: gate, request, interceptors, implementation, reply. Never rejects. */
export async function runUnary(
  spec: UnarySpec,
  context: UnaryContext,
  exchange: UnaryExchange,
  parts: UnaryParts,
): Promise<void> {
  const { call } = context;
  parts.live.add(context);
  try {
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
    fail(reason, context, exchange, parts);
  } finally {
    parts.live.delete(context);
  }
}

function fail(reason: unknown, context: UnaryContext, exchange: UnaryExchange, parts: UnaryParts): void {
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
