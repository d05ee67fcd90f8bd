import type { Interceptor } from "@connectrpc/connect";
import type { ErrorMapping } from "../transport/error-mapping.ts";
import { requestIdKey } from "../transport/request-id.ts";

/**
 * The one place where what handlers throw becomes a ConnectError. Goes first, outside of validation, so that it
 * sees every failure of unary calls and of streams, before and after their first message.
 */
export function createErrorInterceptor(errors: ErrorMapping): Interceptor {
  return (next) => async (request) => {
    const map = (reason: unknown) =>
      errors.toConnectError(reason, {
        requestId: request.contextValues.get(requestIdKey),
        method: `${request.service.typeName}/${request.method.name}`,
      });
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: mapped(response.message, map) } : response;
    } catch (reason) {
      throw map(reason);
    }
  };
}

async function* mapped<T>(messages: AsyncIterable<T>, map: (reason: unknown) => Error): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (reason) {
    throw map(reason);
  }
}
