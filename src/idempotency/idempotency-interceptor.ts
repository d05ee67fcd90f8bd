import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { invalidField } from "../errors/service-error.ts";
import { fingerprintOf, setIdempotency } from "./idempotency.ts";

/**
 * Reads the header `idempotency-key` of calls of KEYED methods and stores the identity of the call in the context, for
 * `idempotencyOf`. Other methods ignore the header. Runs inside validation, because only valid calls are remembered.
 * Throws VALIDATION unless the header has 1 to 255 visible ASCII characters.
 */
export function createIdempotencyInterceptor(isKeyed: (method: DescMethod) => boolean): Interceptor {
  return (next) => (request) => {
    if (request.stream || !isKeyed(request.method)) return next(request);
    const key = request.header.get("idempotency-key");
    if (key !== null && !KEY.test(key)) {
      throw invalidField("idempotency-key", "1 to 255 visible ASCII characters");
    }
    const { method, message } = request;
    const name = `${method.parent.typeName}/${method.name}`;
    setIdempotency(
      request.contextValues,
      key === null ? null : { key, method: name, fingerprint: fingerprintOf(method, message) },
    );
    return next(request);
  };
}

const KEY = /^[\x21-\x7e]{1,255}$/;
