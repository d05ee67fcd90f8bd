import { createHash } from "node:crypto";
import { type DescMethod, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey } from "@connectrpc/connect";

/** What a call of a KEYED method is remembered by. */
export interface Idempotency {
  /** The header `idempotency-key`. */
  readonly key: string;
  /** `package.Service/Method`. */
  readonly method: string;
  /** SHA-256 over the method and the canonical bytes of the decoded request: what the key stands for. */
  readonly fingerprint: Uint8Array;
}

/** What the interceptor found: null for a call without the header, undefined where no interceptor looked. */
const idempotencyKey = createContextKey<Idempotency | null | undefined>(undefined, {
  description: "idempotency",
});

/** Notes what a call is remembered by; null: by nothing. The interceptor does. */
export function setIdempotency(values: ContextValues, idempotency: Idempotency | null): void {
  values.set(idempotencyKey, idempotency);
}

/**
 * What a call of a KEYED method is remembered by; undefined if it was sent without the header. Throws where the
 * interceptor was left out.
 */
export function idempotencyOf(context: { readonly values: ContextValues }): Idempotency | undefined {
  const found = context.values.get(idempotencyKey);
  if (found === undefined) throw new Error("no interceptor has looked for an idempotency key");
  return found ?? undefined;
}

/**
 * The fingerprint of a call. Path variables and query parameters are part of the decoded request. Fields that this
 * version does not know change nothing of what it would do, and nothing here.
 */
export function fingerprintOf<M extends DescMethod>(
  method: M,
  request: MessageShape<M["input"]>,
): Uint8Array {
  const hash = createHash("sha256").update(`${method.parent.typeName}/${method.name}\n`);
  return new Uint8Array(hash.update(toBinary(method.input, request, { writeUnknownFields: false })).digest());
}
