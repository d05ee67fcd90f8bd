import type { Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import type { ErrorMapping, FailedCall } from "../transport/error-mapping.ts";
import { requestIdKey } from "../transport/request-id.ts";

/**
 * The one place where what handlers throw becomes a ConnectError. Goes first, outside of validation, so that it
 * sees every failure of unary calls and of streams, before and after their first message.
 */
export function createErrorInterceptor(errors: ErrorMapping): Interceptor {
  return (next) => async (request) => {
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: new MappedMessages(response.message, errors, callOf(request)) };
    } catch (reason) {
      throw errors.toConnectError(reason, callOf(request));
    }
  };
}

function callOf({ contextValues, service, method }: UnaryRequest | StreamRequest): FailedCall {
  return { requestId: contextValues.get(requestIdKey), method: `${service.typeName}/${method.name}` };
}

/** Messages whose failure is mapped. A class and no generator, because streams are many and long. */
class MappedMessages<T> implements AsyncIterableIterator<T> {
  readonly #messages: AsyncIterable<T>;
  readonly #errors: ErrorMapping;
  readonly #call: FailedCall;
  #iterator: AsyncIterator<T> | undefined;

  constructor(messages: AsyncIterable<T>, errors: ErrorMapping, call: FailedCall) {
    this.#messages = messages;
    this.#errors = errors;
    this.#call = call;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    const fail = (reason: unknown) => Promise.reject(this.#errors.toConnectError(reason, this.#call));
    try {
      this.#iterator ??= this.#messages[Symbol.asyncIterator]();
      return this.#iterator.next().catch(fail);
    } catch (reason) {
      return fail(reason);
    }
  }

  async return(): Promise<IteratorResult<T>> {
    return (await this.#iterator?.return?.()) ?? { done: true, value: undefined };
  }
}
