import {
  type DescField,
  type DescMethod,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { type GrpcRequest, grpcFrame, grpcPathOf } from "./grpc-client.ts";
import { type RestRequest, toRestRequest } from "./rest-client.ts";

/** The first value most of the time, otherwise one of the others. */
const mostly = <T>(usual: fc.Arbitrary<T>, ...others: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: usual }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })));

const text = fc.string({ unit: "binary", maxLength: 80 });
const bytes = fc.uint8Array({ maxLength: 400 });
const hex = (length: number) =>
  fc.string({
    unit: fc.constantFrom(...Array.from("0123456789abcdef")),
    minLength: length,
    maxLength: length,
  });

/** A plausible value for the field, so that the call gets far before it is refused. */
function plausible(field: DescField): fc.Arbitrary<JsonValue> {
  if (field.fieldKind === "enum") {
    return fc.constantFrom(...field.enum.values.flatMap(({ name, number }) => [name, number]), 2, 99, -1);
  }
  if (field.fieldKind !== "scalar") return fc.jsonValue() as fc.Arbitrary<JsonValue>;
  switch (field.scalar) {
    case ScalarType.BYTES:
      return fc
        .constantFrom(0, 1, 32, 64, 261, 7_144, 16_381, 16_382)
        .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
        .map((value) => Buffer.from(value).toString("base64"));
    case ScalarType.STRING:
      return fc.oneof(
        hex(64).map((digits) => `0x${digits}`),
        hex(64),
        fc.uuid(),
        fc.base64String({ maxLength: 200 }),
        text,
      );
    default:
      return fc.oneof(
        fc.integer({ min: -2, max: 300 }),
        fc.maxSafeInteger(),
        fc.maxSafeInteger().map(String),
      );
  }
}

/** A JSON value that the field most likely refuses. */
const odd: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<JsonValue>,
  text,
  fc.constantFrom<JsonValue>(null, "", "\u0000", "NaN", -0.5, 1e300, true, [], {}, "9".repeat(40), [[[]]]),
);

function requestOf(
  method: DescMethod,
  value: (field: DescField) => fc.Arbitrary<JsonValue>,
): fc.Arbitrary<JsonObject> {
  return fc.record(Object.fromEntries(method.input.fields.map((field) => [field.jsonName, value(field)])), {
    requiredKeys: [],
  }) as fc.Arbitrary<JsonObject>;
}

const headerText = fc.string({
  unit: fc.constantFrom(...Array.from("aZ09 .,;=/*-_+\"'%\u00e9")),
  maxLength: 40,
});

const headers = (named: Record<string, fc.Arbitrary<string>>): fc.Arbitrary<Record<string, string>> =>
  mostly(
    fc.constant({}),
    fc.record(
      {
        "idempotency-key": headerText,
        "x-network": fc.oneof(fc.constantFrom("localnet", "testnet"), headerText),
        "x-request-id": headerText,
        ...named,
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<Record<string, string>>,
  );

/** Requests to a method's REST route with one or several faults, and a few without. */
export function malformedRest(method: DescMethod): fc.Arbitrary<RestRequest> {
  const request = requestOf(method, (field) => mostly(plausible(field), odd));
  return fc
    .record({
      sent: request.map((json) => toRestRequest(method, json)),
      unknown: mostly(fc.constant(""), text),
      body: mostly<string | Uint8Array<ArrayBuffer> | undefined>(
        fc.constant(undefined),
        fc.json(),
        text,
        bytes.map((value) => new Uint8Array(value)),
      ),
      verb: mostly<string | undefined>(
        fc.constant(undefined),
        fc.constantFrom("GET", "POST", "PUT", "DELETE"),
      ),
      headers: headers({
        accept: fc.oneof(
          fc.constantFrom("text/event-stream", "image/png", "application/x-ndjson;q=0"),
          headerText,
        ),
        "content-type": fc.oneof(
          fc.constantFrom("application/json; charset=latin1", "text/plain"),
          headerText,
        ),
        "content-encoding": fc.constantFrom("gzip", "br", "zstd", "identity"),
        "connect-timeout-ms": fc.constantFrom("0", "1", "-1", "soon", "99999999999"),
        range: fc.constantFrom("bytes=0-", "bytes=9-1", "octets=1"),
        "last-event-id": headerText,
      }),
    })
    .map(({ sent, unknown, body = sent.body, verb = sent.verb, headers: odds }) => {
      const query =
        unknown === "" ? "" : `${sent.path.includes("?") ? "&" : "?"}${encodeURIComponent(unknown)}`;
      return {
        verb,
        path: sent.path + query,
        headers: { ...sent.headers, ...odds },
        ...(verb !== "GET" && body !== undefined && { body }),
      };
    });
}

/** The same over gRPC, with faults in the values, the bytes of the message, or their frame. */
export function malformedGrpc(method: DescMethod): fc.Arbitrary<GrpcRequest> {
  const binary = requestOf(method, plausible).map((json) => encode(method, json));
  const inJson = requestOf(method, (field) => mostly(plausible(field), odd)).map((json) =>
    Buffer.from(JSON.stringify(json)),
  );
  const ofCodec = (message: fc.Arbitrary<Uint8Array>, contentType: fc.Arbitrary<string>) =>
    fc.record({
      message: mostly(
        message,
        bytes,
        fc.tuple(message, fc.nat()).map(cut),
        fc.tuple(message, bytes).map(joined),
      ),
      contentType,
      frame: frames,
      headers: headers({
        "grpc-timeout": fc.constantFrom("0m", "1n", "5x", "-1S", "999999999H"),
        "grpc-encoding": fc.constantFrom("gzip", "br", "zstd", "identity"),
      }),
    });
  return mostly(
    ofCodec(binary, mostly(fc.constant("application/grpc"), fc.constant("application/grpc+xml"))),
    ofCodec(inJson, fc.constant("application/grpc+json")),
  ).map(({ message, contentType, frame, headers: odds }) => ({
    path: grpcPathOf(method),
    headers: { "content-type": contentType, ...odds },
    body: frame(message),
  }));
}

const frames: fc.Arbitrary<(message: Uint8Array) => Uint8Array> = mostly(
  fc.constant(grpcFrame),
  fc.nat(255).map((flags) => (message: Uint8Array) => flagged(grpcFrame(message), flags)),
  bytes.map((more) => (message: Uint8Array) => joined([grpcFrame(message), more])),
  fc.nat().map((at) => (message: Uint8Array) => cut([grpcFrame(message), at])),
);

/** Leaves out values of the field that JSON cannot express. */
function encode(method: DescMethod, json: JsonObject): Uint8Array {
  const kept = Object.entries(json).filter(([name, value]) => isTaken(method, { [name]: value }));
  return toBinary(method.input, fromJson(method.input, Object.fromEntries(kept)));
}

function isTaken(method: DescMethod, json: JsonObject): boolean {
  try {
    fromJson(method.input, json);
    return true;
  } catch {
    return false;
  }
}

function cut([whole, at]: readonly [Uint8Array, number]): Uint8Array {
  return whole.subarray(0, at % (whole.length + 1));
}

function joined(parts: readonly [Uint8Array, Uint8Array]): Uint8Array {
  return Buffer.concat(parts);
}

function flagged(frame: Uint8Array, flags: number): Uint8Array {
  const copy = Uint8Array.from(frame);
  copy[0] = flags;
  return copy;
}
