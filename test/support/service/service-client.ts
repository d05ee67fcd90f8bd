import type { DescService } from "@bufbuild/protobuf";
import {
  type Client,
  ConnectError,
  createClient,
  createRouterTransport,
  type ServiceImpl,
} from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { type Caller, setCaller } from "../../../src/service/access/caller.ts";
import { methodPolicy } from "../../../src/service/access/method-policy.ts";
import { createErrorInterceptor } from "../../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../../src/service/platform/errors/error-mapping.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { createWarmValidateInterceptor } from "../../../src/service/platform/errors/validate-interceptor.ts";
import { createIdempotencyInterceptor } from "../../../src/service/platform/idempotency/idempotency.ts";

/** A client of one service, called without a network. All calls come from `caller`. */
export function clientOf<S extends DescService>(
  service: S,
  implementation: ServiceImpl<S>,
  caller: () => Caller,
): Client<S> {
  const errors = createErrorMapping(() => {});
  const transport = createRouterTransport((router) => router.service(service, implementation), {
    router: {
      interceptors: [
        createErrorInterceptor(errors),
        createWarmValidateInterceptor([service]),
        createIdempotencyInterceptor((method) => methodPolicy(method).idempotency === "keyed"),
      ],
      requestGate: (context) => setCaller(context.values, caller()),
    },
  });
  return createClient(service, transport);
}

/** Returns the catalogue's reason of a refused call, from a client or from the operation. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ServiceError) return error.reason;
    const refusal = ConnectError.from(error);
    return refusal.findDetails(ErrorInfoSchema)[0]?.reason ?? refusal.message;
  }
  return "not refused";
}
