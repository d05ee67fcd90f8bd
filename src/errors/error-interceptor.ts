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
      const map = (reason: unknown) => errors.toConnectError(reason, callOf(request));
      return { ...response, message: mapped(response.message, map) };
    } catch (reason) {
      throw errors.toConnectError(reason, callOf(request));
    }
  };
}

function callOf({ contextValues, service, method }: UnaryRequest | StreamRequest): FailedCall {
  return { requestId: contextValues.get(requestIdKey), method: `${service.typeName}/${method.name}` };
}

async function* mapped<T>(messages: AsyncIterable<T>, map: (reason: unknown) => Error): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (reason) {
    throw map(reason);
  }
}
