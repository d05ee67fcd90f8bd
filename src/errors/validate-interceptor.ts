import type { DescService } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { createValidateInterceptor } from "@connectrpc/validate";
import { createBoundedValidator } from "./bounded-validator.ts";

/** The interceptor that enforces the protos' field rules, those of these services compiled beforehand. */
export function createWarmValidateInterceptor(services: readonly DescService[]): Interceptor {
  const requests = services.flatMap(({ methods }) => methods.map(({ input }) => input));
  return createValidateInterceptor({ validator: createBoundedValidator(requests) });
}
