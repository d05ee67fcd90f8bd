import { brotliCompressSync, gzipSync } from "node:zlib";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Random } from "../sim/random.ts";
import type { Endpoint } from "./endpoints.ts";
import { mutateBytes, randomBytes } from "./mutate-bytes.ts";

/** The largest request message of the fuzzed server, in bytes. */
export const BODY_BYTES = 64 * 1024;

const NASTY_JSON: readonly JsonValue[] = [
  null,
  true,
  0,
  -1,
  1.5,
  Number.MAX_VALUE,
  2 ** 53,
  "",
  "NaN",
  "-Infinity",
  "18446744073709551616",
  "\ud800",
  "\u0000",
  "AAEC=",
  "ÿ😈",
  "9999-12-31T23:59:59.999999999Z",
  "-315576000000.999999999s",
  "A_b",
  [],
  {},
  [[]],
  [null],
  { __proto__: null, "@type": "x" },
];
const NASTY_KEYS = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "nested",
  "recursive",
  "@type",
  "stringValue",
];
const NASTY_TEXTS = ["", " ", "{", "[]", "null", '"', "{}{}", '{"a":1,"a":2}', "\ufeff{}", '{"a":01}', "NaN"];
/** Far deeper than any message of the contract. */
const DEEP = 3_000;

/** A JSON body for a method: well formed, or with changed members, or with changed text. */
export function makeJson(random: Random, { json }: Endpoint): Buffer {
  if (random.happens(0.5)) return Buffer.from(JSON.stringify(json));
  if (random.happens(0.1)) return Buffer.from(random.pick(NASTY_TEXTS));
  if (random.happens(0.05)) return deepJson(random);
  const text = Buffer.from(JSON.stringify(changed(random, json)));
  return random.happens(0.2) ? mutateBytes(random, text) : text;
}

function changed(random: Random, json: JsonObject): JsonObject {
  const entries: [string, JsonValue][] = Object.entries(json).map(([key, value]) => {
    if (!random.happens(0.4)) return [key, value];
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return [key, isObject && random.happens(0.5) ? changed(random, value) : random.pick(NASTY_JSON)];
  });
  if (random.happens(0.3)) entries.push([random.pick(NASTY_KEYS), random.pick(NASTY_JSON)]);
  return Object.fromEntries(entries);
}

function deepJson(random: Random): Buffer {
  const key = random.pick(["recursive", "nested", "a"]);
  const isClosed = random.happens(0.8);
  return Buffer.from(`{"${key}":`.repeat(DEEP) + (isClosed ? `{}${"}".repeat(DEEP)}` : ""));
}

/** A message in protobuf's binary form. */
export function makeBinary(random: Random, { binary }: Endpoint): Buffer {
  if (random.happens(0.6)) return binary;
  if (random.happens(0.1)) return deepBinary();
  if (random.happens(0.1))
    return Buffer.alloc(random.integer(BODY_BYTES - 2, BODY_BYTES + 2), random.pick([0, 8, 0xff]));
  return random.happens(0.7) ? mutateBytes(random, binary) : randomBytes(random, 60);
}

/** `Parameters.recursive` (field 40) nested in itself. */
function deepBinary(): Buffer {
  let message = Buffer.alloc(0);
  for (let level = 0; level < DEEP; level++) {
    message = Buffer.concat([Buffer.from([0xc2, 0x02]), varint(message.length), message]);
  }
  return message;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  return Buffer.from([...bytes, value]);
}

/** Names of encodings. The server knows the first few. */
export const ENCODINGS = [
  "identity",
  "gzip",
  "br",
  "deflate",
  "GZIP",
  "gzip, br",
  "",
  "x-gzip",
  "zstd",
] as const;

/** Encodes the bytes, or leaves them as they are. */
export function encodeBytes(random: Random, bytes: Buffer, encoding: string): Buffer {
  if (random.happens(0.15)) return bytes;
  const isBomb = random.happens(0.1);
  const given = isBomb ? Buffer.alloc(BODY_BYTES * random.integer(1, 30)) : bytes;
  const name = encoding.toLowerCase();
  const encoded =
    name === "gzip" || name === "x-gzip"
      ? gzipSync(given)
      : name === "br"
        ? brotliCompressSync(given)
        : bytes;
  return random.happens(0.2) ? mutateBytes(random, encoded) : encoded;
}

/** Messages after the five-byte heads of gRPC, gRPC-web and Connect streams. Some flags and lengths are wrong. */
export function makeFrames(random: Random, endpoint: Endpoint, encoding: string, isJson: boolean): Buffer {
  const count = random.pick([1, 1, 1, 1, 0, 2, 3]);
  const frames = Array.from({ length: count }, () => {
    const isCompressed = random.happens(encoding === "identity" ? 0.05 : 0.7);
    const plain = isJson ? makeJson(random, endpoint) : makeBinary(random, endpoint);
    const bytes = isCompressed ? encodeBytes(random, plain, encoding) : plain;
    const head = Buffer.alloc(5);
    head[0] = random.happens(0.06) ? random.integer(0, 255) : Number(isCompressed);
    head.writeUInt32BE(random.happens(0.06) ? lie(random, bytes.length) : bytes.length, 1);
    return Buffer.concat([head, bytes]);
  });
  const whole = Buffer.concat(frames);
  return random.happens(0.1) ? mutateBytes(random, whole) : whole;
}

function lie(random: Random, length: number): number {
  return random.pick([0, 1, Math.max(0, length - 1), length + 1, BODY_BYTES + 1, 2 ** 31, 2 ** 32 - 1]);
}
