import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { create, type DescMessage, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  GetPresignHealthRequestSchema,
  RefillPresignsRequestSchema,
} from "../../../gen/proto/tss/v1/admin_pb.ts";
import {
  GetNetworkRequestSchema,
  GetProtocolParametersRequestSchema,
} from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import {
  GetSignRequestSchema,
  ReserveSignRequestSchema,
  SubmitSignRequestSchema,
  WatchSignRequestSchema,
} from "../../../gen/proto/tss/v1/signing_pb.ts";
import { DWALLET_ID, PARAMETERS, PARAMETERS_SHA256, UUID } from "./fake-services.ts";

/** A request in its wire form, which can be sent to several servers. */
export interface GeneratedCall {
  readonly protocol: "grpc" | "connect";
  /** Whether the body's messages are in envelopes. */
  readonly isEnveloped: boolean;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Method {
  readonly path: string;
  readonly desc: DescMessage;
  readonly message: fc.Arbitrary<Message>;
}

function method<D extends DescMessage>(path: string, desc: D, init: fc.Arbitrary<object>): Method {
  return { path, desc, message: init.map((given) => create(desc, given as never)) };
}

const uuid = fc.oneof({ weight: 5, arbitrary: fc.constant(UUID) }, { weight: 1, arbitrary: fc.string() });
const METHODS: fc.Arbitrary<Method> = fc.constantFrom(
  method("/tss.v1.Signing/GetSign", GetSignRequestSchema, fc.record({ signRequestId: uuid })),
  method(
    "/tss.v1.Signing/SubmitSign",
    SubmitSignRequestSchema,
    fc.record({ signRequestId: uuid, userSignMessage: fc.uint8Array({ maxLength: 3000 }) }),
  ),
  method(
    "/tss.v1.Signing/ReserveSign",
    ReserveSignRequestSchema,
    fc.record({
      dwalletId: fc.constant(DWALLET_ID),
      signatureAlgorithm: fc.constantFrom(0, 21, 24, 99),
      hashScheme: fc.constantFrom(0, 32, 34),
      message: fc.uint8Array({ maxLength: 40 }),
    }),
  ),
  method(
    "/tss.v1.Signing/WatchSign",
    WatchSignRequestSchema,
    fc.record({ signRequestId: uuid, cursor: fc.constantFrom("", "none", "large", "break", "fail") }),
  ),
  method(
    "/tss.v1.Onboarding/GetProtocolParameters",
    GetProtocolParametersRequestSchema,
    fc.record({
      sha256: fc.constantFrom(PARAMETERS_SHA256, "0".repeat(64)),
      offset: fc.nat(2_000).map((count) => BigInt(PARAMETERS.length - count)),
    }),
  ),
  method("/tss.v1.Onboarding/GetNetwork", GetNetworkRequestSchema, fc.constant({})),
  method(
    "/tss.v1.Admin/GetPresignHealth",
    GetPresignHealthRequestSchema,
    fc.record({ curve: fc.nat(5) }, { requiredKeys: [] }),
  ),
  method(
    "/tss.v1.Admin/RefillPresigns",
    RefillPresignsRequestSchema,
    fc.constant({ curve: 1, signatureAlgorithm: 0, count: 3 }),
  ),
);

const often = <T>(usual: T, ...odd: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    ...odd.map((arbitrary) => ({ weight: 1, arbitrary })),
  );

const METADATA = fc.dictionary(
  fc.constantFrom("x-echo", "x-echo-bin", "authorization", "x-network", "idempotency-key", "x-other"),
  fc.stringMatching(/^[A-Za-z0-9+/=._-]{1,24}$/),
  { maxKeys: 3 },
);

/** Headers that a test's gate refuses, and that the implementation echoes. */
const ECHOES = { "x-refuse": "x-refuse", "x-fail": "x-fail" } as const;

const damage = fc.record({
  at: fc.nat(),
  to: fc.nat(255),
  kind: often("none", fc.constantFrom("flip", "cut", "append", "double", "random", "empty")),
  random: fc.uint8Array({ maxLength: 60 }),
});

type Damage = typeof damage extends fc.Arbitrary<infer T> ? T : never;

function damaged(bytes: Uint8Array, { kind, at, to, random }: Damage): Buffer {
  const copy = Buffer.from(bytes);
  switch (kind) {
    case "flip":
      if (copy.length > 0) copy[at % copy.length] = to;
      return copy;
    case "cut":
      return copy.subarray(0, at % (copy.length + 1));
    case "append":
      return Buffer.concat([copy, random]);
    case "double":
      return Buffer.concat([copy, copy]);
    case "random":
      return Buffer.from(random);
    case "empty":
      return Buffer.alloc(0);
    default:
      return copy;
  }
}

const squeeze: Record<string, (bytes: Uint8Array) => Uint8Array> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
};

const ENCODING = often<string | undefined>(
  undefined,
  fc.constantFrom("gzip", "br", "identity", "deflate", ""),
);
const ACCEPT = often<string | undefined>(
  undefined,
  fc.constantFrom("gzip", "identity,gzip", "br, gzip", "deflate"),
);

function present(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
}

function frame(bytes: Uint8Array, flags: number): Buffer {
  const head = Buffer.alloc(5);
  head[0] = flags;
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Paths of methods with a stream as the reply. */
export const STREAMS = /WatchSign|GetProtocolParameters/;

/** gRPC and Connect calls. Most are valid; the others have one or several faults. */
export const generatedCalls: fc.Arbitrary<GeneratedCall> = METHODS.chain(({ path, desc, message }) =>
  fc
    .record({
      message,
      protocol: fc.constantFrom("grpc" as const, "connect" as const),
      isJson: fc.boolean(),
      isStreamType: often(STREAMS.test(path), fc.boolean()),
      metadata: METADATA,
      refuse: often<string | undefined>(undefined, fc.constant("1")),
      fail: often<string | undefined>(undefined, fc.constantFrom("expected", "unexpected", "plain")),
      timeout: often<string | undefined>(
        undefined,
        fc.constantFrom("1H", "20S", "30000m", "5x", "", "999999999S", "20000", "9".repeat(10), "-1", "1e3"),
      ),
      encoding: ENCODING,
      isSqueezed: fc.boolean(),
      flags: often(0, fc.constantFrom(1, 2, 0x40, 0x80)),
      accept: ACCEPT,
      inner: damage,
      outer: damage,
      contentType: often<string | undefined>(
        undefined,
        fc.constantFrom("application/json; charset=utf-8", "application/grpc+proto"),
      ),
    })
    .map((given): GeneratedCall => {
      const { protocol, isJson, metadata, encoding, isSqueezed, accept } = given;
      const json = isJson && protocol === "connect";
      const plain = json
        ? Buffer.from(toJsonString(desc, given.message))
        : Buffer.from(toBinary(desc, given.message));
      const bytes = damaged(plain, given.inner);
      const squeezed = isSqueezed ? (squeeze[encoding ?? ""]?.(bytes) ?? bytes) : bytes;
      const common = { ...metadata, [ECHOES["x-refuse"]]: given.refuse, [ECHOES["x-fail"]]: given.fail };
      if (protocol === "grpc") {
        const headers = {
          ...common,
          "content-type": given.contentType?.startsWith("application/grpc")
            ? given.contentType
            : "application/grpc",
          te: "trailers",
          "grpc-timeout": given.timeout,
          "grpc-encoding": encoding,
          "grpc-accept-encoding": accept,
        };
        const body = damaged(frame(squeezed, (isSqueezed && encoding ? 1 : 0) | given.flags), given.outer);
        return { protocol, isEnveloped: true, method: path, headers: present(headers), body };
      }
      if (given.isStreamType) {
        const headers = {
          ...common,
          "content-type": `application/connect+${json ? "json" : "proto"}`,
          "connect-protocol-version": "1",
          "connect-timeout-ms": given.timeout,
          "connect-content-encoding": encoding,
          "connect-accept-encoding": accept,
        };
        const body = damaged(frame(squeezed, (isSqueezed && encoding ? 1 : 0) | given.flags), given.outer);
        return { protocol, isEnveloped: true, method: path, headers: present(headers), body };
      }
      const isCharset = json && given.contentType?.startsWith("application/json");
      const headers = {
        ...common,
        "content-type": isCharset ? given.contentType : json ? "application/json" : "application/proto",
        "connect-protocol-version": "1",
        "connect-timeout-ms": given.timeout,
        "content-encoding": encoding,
        "accept-encoding": accept,
      };
      const body = damaged(squeezed, given.outer);
      return { protocol, isEnveloped: false, method: path, headers: present(headers), body };
    }),
);
