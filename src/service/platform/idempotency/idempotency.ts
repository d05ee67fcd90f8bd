import { createHash } from "node:crypto";
import { type DescMethod, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey, type Interceptor } from "@connectrpc/connect";
import { invalidField } from "../errors/service-error.ts";

/** The identity under which a call of a KEYED method is remembered. */
export interface Idempotency {
  /** The header `idempotency-key`. */
  readonly key: string;
  /** `package.Service/Method`. */
  readonly method: string;
  /** SHA-256 over the method and the canonical bytes of the decoded request, which the key stands for. */
  readonly fingerprint: Uint8Array;
}

/** The result of the interceptor: null for a call without the header, undefined without an interceptor. */
const idempotencyKey = createContextKey<Idempotency | null | undefined>(undefined, {
  description: "idempotency",
});

/** Stores the identity of a call, or null if it has none. Called by the interceptor. */
function setIdempotency(values: ContextValues, idempotency: Idempotency | null): void {
  values.set(idempotencyKey, idempotency);
}

/**
 * Returns the identity of a call of a KEYED method, or undefined if it was sent without the header. Throws if the
 * interceptor has not run.
 */
export function idempotencyOf(context: { readonly values: ContextValues }): Idempotency | undefined {
  const found = context.values.get(idempotencyKey);
  if (found === undefined) throw new Error("the idempotency interceptor has not run");
  return found ?? undefined;
}

/**
 * Returns the fingerprint of a call. Path variables and query parameters are part of the decoded request. Unknown
 * fields do not change the call, so they are left out.
 */
export function fingerprintOf<M extends DescMethod>(
  method: M,
  request: MessageShape<M["input"]>,
): Uint8Array {
  const hash = createHash("sha256").update(`${method.parent.typeName}/${method.name}\n`);
  return new Uint8Array(hash.update(toBinary(method.input, request, { writeUnknownFields: false })).digest());
}

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
