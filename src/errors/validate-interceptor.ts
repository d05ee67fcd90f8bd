import { create, type DescService } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import type { Interceptor } from "@connectrpc/connect";
import { createValidateInterceptor } from "@connectrpc/validate";

/**
 * The interceptor that enforces the protos' field rules. The rules of all request messages are compiled here and
 * now, because compiling them with the first request would block the event loop for tens of milliseconds.
 */
export function createWarmValidateInterceptor(services: readonly DescService[]): Interceptor {
  const validator = createValidator();
  for (const service of services) {
    for (const { input } of service.methods) validator.validate(input, create(input));
  }
  return createValidateInterceptor({ validator });
}
