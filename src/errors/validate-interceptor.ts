import type { DescService } from "@bufbuild/protobuf";
import type { Interceptor, StreamRequest } from "@connectrpc/connect";
import { createValidateInterceptor } from "@connectrpc/validate";
import { createBoundedValidator } from "./bounded-validator.ts";

/** The interceptor that enforces the protos' field rules. It compiles the rules of these services in advance. */
export function createWarmValidateInterceptor(services: readonly DescService[]): Interceptor {
  const requests = services.flatMap(({ methods }) => methods.map(({ input }) => input));
  const validate = createValidateInterceptor({ validator: createBoundedValidator(requests) });
  return (next) => {
    const checked = validate(next);
    return (request) => {
      if (!request.stream) return checked(request);
      // The library copies a stream's request, which creates its signal. That costs as much as the rest of an idle
      // stream. So the request object stays the same and takes only the messages of the copy.
      return validate((copy) => next(Object.assign(request, { message: copy.message })))(
        withoutSignal(request),
      );
    };
  };
}

function withoutSignal({
  method,
  service,
  requestMethod,
  message,
  contextValues,
  header,
}: StreamRequest): StreamRequest {
  const { signal } = NEVER;
  return { stream: true, method, service, requestMethod, url: "", message, contextValues, header, signal };
}

const NEVER = new AbortController();
