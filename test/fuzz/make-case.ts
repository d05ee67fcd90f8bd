import { createRandom, type Random } from "../sim/random.ts";
import type { Ending, FuzzCase } from "./fuzz-case.ts";
import { http1Bytes } from "./http1-bytes.ts";
import { http2Bytes } from "./http2-bytes.ts";
import { PREFACE } from "./http2-frames.ts";
import { mutateBytes, randomBytes, splitBytes } from "./mutate-bytes.ts";

const ENDINGS: readonly Ending[] = ["wait", "wait", "wait", "finish", "finish", "close", "reset"];

/** Makes the case with this number under a seed. */
export function makeCase(seed: number, number: number): FuzzCase {
  const random = createRandom(Math.imul(seed, 0x9e3779b1) + Math.imul(number, 0x85ebca6b));
  const kind = random.pick(["http1", "http1", "http1", "http2", "http2", "http2", "first bytes"] as const);
  const made = MAKERS[kind](random);
  const isMutated = random.happens(0.25);
  // The first bytes decide the protocol. One kind of case has faults in them.
  const keptBytes = kind === "http2" ? PREFACE.length : 0;
  const bytes = isMutated
    ? Buffer.concat([made.bytes.subarray(0, keptBytes), mutateBytes(random, made.bytes.subarray(keptBytes))])
    : made.bytes;
  const alpn = kind === "first bytes" ? undefined : kind === "http2" ? "h2" : "http/1.1";
  return {
    number,
    kind: isMutated ? `${kind}, mutated` : kind,
    writes: splitBytes(random, bytes),
    ending: random.pick(ENDINGS),
    alpn: random.happens(0.03) ? random.pick([undefined, "h2", "http/1.1"]) : alpn,
    // A mutation may remove an HTTP/2 window.
    mayStay: made.mayStay || (isMutated && kind === "http2"),
  };
}

const MAKERS = {
  http1: http1Bytes,
  http2: http2Bytes,
  "first bytes": (random: Random) => ({ bytes: firstBytes(random), mayStay: false }),
} as const;

/** The first bytes of each protocol, and bytes that resemble them. */
function firstBytes(random: Random): Buffer {
  const choices = [
    () => Buffer.alloc(0),
    () => PREFACE.subarray(0, random.integer(1, PREFACE.length)),
    () => Buffer.concat([PREFACE, randomBytes(random, 100)]),
    () =>
      Buffer.concat([PREFACE.subarray(0, random.integer(1, PREFACE.length - 1)), randomBytes(random, 30)]),
    () => clientHello(random),
    () => Buffer.concat([Buffer.from([0x16]), randomBytes(random, 60)]),
    () => randomBytes(random, 200),
    () => Buffer.from("\r\n\r\nGET /v1/health HTTP/1.1\r\nhost: a\r\n\r\n"),
  ];
  return random.pick(choices)();
}

/** A TLS 1.2 ClientHello without extensions (RFC 5246, 7.4.1.2), with more or fewer bytes than it announces. */
function clientHello(random: Random): Buffer {
  const suites = Buffer.from([0, 4, 0xc0, 0x2f, 0x00, 0x9c]);
  const hello = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    Buffer.from([0]),
    suites,
    Buffer.from([1, 0]),
  ]);
  const handshake = Buffer.concat([Buffer.from([1, 0, 0, hello.length]), hello]);
  const whole = Buffer.concat([Buffer.from([0x16, 3, 1, 0, handshake.length]), handshake]);
  return whole.subarray(0, random.integer(1, whole.length));
}
