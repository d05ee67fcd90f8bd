import type { DescMethod } from "@bufbuild/protobuf";
import type { ContextValues, Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import type { FailedCall } from "../../../transport/calls/call.ts";
import type { ErrorMapping } from "../../../transport/calls/call-parts.ts";
import { requestIdKey } from "../../../transport/calls/request-id.ts";

/**
 * Converts all errors of handlers to a ConnectError. It must be the first interceptor, outside of validation, so that
 * it sees every failure of unary calls and of streams, before and after their first message.
 */
export function createErrorInterceptor(errors: ErrorMapping): Interceptor {
  return (next) => async (request) => {
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: new MappedMessages(response.message, errors, request) };
    } catch (reason) {
      throw errors.toConnectError(reason, callOf(request));
    }
  };
}

/** The parts of a call that identify it. */
type CallNames = Pick<UnaryRequest | StreamRequest, "contextValues" | "method">;

function callOf({ contextValues, method }: CallNames): FailedCall {
  return { requestId: contextValues.get(requestIdKey), method: `${method.parent.typeName}/${method.name}` };
}

/** Messages whose failure is mapped. A class instead of a generator, because there are many long streams. */
class MappedMessages<T> implements AsyncIterableIterator<T> {
  readonly #messages: AsyncIterable<T>;
  readonly #errors: ErrorMapping;
  readonly #contextValues: ContextValues;
  readonly #method: DescMethod;
  #iterator: AsyncIterator<T> | undefined;

  constructor(messages: AsyncIterable<T>, errors: ErrorMapping, { contextValues, method }: CallNames) {
    this.#messages = messages;
    this.#errors = errors;
    // Keeps only this part of the request: the stream would retain the whole request while it lasts.
    this.#contextValues = contextValues;
    this.#method = method;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    try {
      this.#iterator ??= this.#messages[Symbol.asyncIterator]();
      return this.#iterator.next().catch((reason) => this.#fail(reason));
    } catch (reason) {
      return this.#fail(reason);
    }
  }

  #fail(reason: unknown): Promise<never> {
    const call = callOf({ contextValues: this.#contextValues, method: this.#method });
    return Promise.reject(this.#errors.toConnectError(reason, call));
  }

  async return(): Promise<IteratorResult<T>> {
    return (await this.#iterator?.return?.()) ?? { done: true, value: undefined };
  }
}
