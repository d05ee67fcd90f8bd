import { createHash } from "node:crypto";
import { type DescMethod, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { invalidField } from "../errors/service-error.ts";

/** SHA-256 over the method and the canonical bytes of the decoded request: what an idempotency key stands for. */
export function requestHash<M extends DescMethod>(method: M, request: MessageShape<M["input"]>): Uint8Array {
  const hash = createHash("sha256").update(`${method.parent.typeName}/${method.name}\n`);
  return new Uint8Array(hash.update(toBinary(method.input, request)).digest());
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** The header `idempotency-key`; undefined if it was not sent. Throws VALIDATION for another form. */
export function idempotencyKeyOf(headers: Headers): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (!IDEMPOTENCY_KEY.test(key)) {
    throw invalidField("idempotency-key", "1 to 255 visible ASCII characters");
  }
  return key;
}
