import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";
import {
  GetSignRequestSchema,
  ListSignsResponseSchema,
  ReserveSignRequestSchema,
  ReserveSignResponseSchema,
  Signing,
  SignRequestSchema,
} from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { Hash, SignatureAlgorithm } from "../../../../../gen/proto/tss/v1/types_pb.ts";
import {
  fingerprintOf,
  type Idempotency,
  idempotencyOf,
} from "../../../../../src/service/platform/idempotency/idempotency.ts";
import { newId } from "../../../../../src/service/platform/store/database.ts";
import { clientOf, refusalOf } from "../../../../support/service/service-client.ts";

let seen: (Idempotency | undefined)[];
beforeEach(() => {
  seen = [];
});
const { reserveSign, getSign } = Signing.method;
const signRequestId = newId();
const request = (more: object = {}) => ({
  dwalletId: `0x${"ab".repeat(32)}`,
  signatureAlgorithm: SignatureAlgorithm.EdDSA,
  hashScheme: Hash.SHA512,
  message: Uint8Array.of(1),
  ...more,
});
const client = clientOf(
  Signing,
  {
    reserveSign(_message, context) {
      seen.push(idempotencyOf(context));
      return create(ReserveSignResponseSchema);
    },
    submitSign: () => create(SignRequestSchema),
    releaseSign: () => create(SignRequestSchema),
    cancelSign: () => create(SignRequestSchema),
    async *watchSign() {},
    listSigns: () => create(ListSignsResponseSchema),
    getSign(_message, context) {
      seen.push(idempotencyOf(context));
      return create(SignRequestSchema);
    },
  } satisfies ServiceImpl<typeof Signing>,
  () => ({ kind: "anonymous", network: "localnet" }),
);
const under = (key: string) => ({ headers: { "idempotency-key": key } });

describe("a call of a method with keys", () => {
  it("is identified by its key, its method and its request", async () => {
    await client.reserveSign(request(), under("order-7"));
    await client.reserveSign(request(), under("order-8"));
    await client.reserveSign(request({ message: Uint8Array.of(2) }), under("order-7"));
    const [first, again, other] = seen;
    expect(first).toMatchObject({ key: "order-7", method: "tss.v1.Signing/ReserveSign" });
    expect(again).toMatchObject({ key: "order-8", fingerprint: first!.fingerprint });
    expect(other!.fingerprint).not.toEqual(first!.fingerprint);
  });

  it("without the header is a new one", async () => {
    await client.reserveSign(request());
    expect(seen).toEqual([undefined]);
  });

  it.each(["x".repeat(256), "two words", "ümlaut"])("with the key %s is refused", async (key) => {
    expect(await refusalOf(client.reserveSign(request(), under(key)))).toBe("VALIDATION");
    expect(seen).toEqual([]);
  });

  it("that is invalid is refused as invalid", async () => {
    expect(await refusalOf(client.reserveSign(request({ dwalletId: "x" }), under("k")))).toBe("VALIDATION");
  });
});

describe("a call of another method", () => {
  it("ignores the header", async () => {
    await client.submitSign({ signRequestId, userSignMessage: Uint8Array.of(1) }, under("two words"));
  });

  it("cannot read a key that was not parsed", async () => {
    expect(await refusalOf(client.getSign({ signRequestId }, under("k")))).toBe("INTERNAL");
  });
});

describe("the fingerprint of a request", () => {
  it("differs between methods", () => {
    const asked = create(GetSignRequestSchema, { signRequestId });
    const submitted = create(reserveSign.input, {});
    expect(fingerprintOf(getSign, asked)).toHaveLength(32);
    expect(fingerprintOf(getSign, create(GetSignRequestSchema))).not.toEqual(
      fingerprintOf(reserveSign, submitted),
    );
  });

  it("does not depend on unknown fields", () => {
    const known = create(ReserveSignRequestSchema, request());
    const newer = create(ReserveSignRequestSchema, request());
    newer.$unknown = [{ no: 99, wireType: 0, data: Uint8Array.of(1) }];
    expect(fingerprintOf(reserveSign, newer)).toEqual(fingerprintOf(reserveSign, known));
  });
});
