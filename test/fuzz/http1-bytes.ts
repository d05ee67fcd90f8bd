import type { Random } from "../sim/random.ts";
import { type FuzzRequest, makeRequest, toldLength } from "./make-request.ts";

const VERSIONS = ["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "", "HTTP/1.1 x"];
const LINE_ENDS = ["\n", "\r", "\r\r\n", "\0\r\n", " \r\n"];
const ODD_LINES = [
  ": x",
  "a",
  "a : b",
  " folded",
  "a\0b: c",
  "x-long: ".padEnd(20_000, "a"),
  "content-length: 0",
  "connection: close, upgrade",
  "connection: keep-alive",
  "é: x",
];
const ODD_CHUNK_SIZES = ["-1", "x", "ffffffffffffffff1", "", "1;a=b", '1;"', "00000001", " 2"];

/** One to four HTTP/1.1 requests in a row. */
export function http1Bytes(random: Random): { bytes: Buffer; mayStay: boolean } {
  const requests = Array.from({ length: random.pick([1, 1, 1, 1, 2, 4]) }, () => makeRequest(random));
  return {
    bytes: Buffer.concat(requests.map((request) => encode(random, request))),
    mayStay: requests.some(({ mayStay }) => mayStay),
  };
}

function encode(random: Random, { method, target, headers, body }: FuzzRequest): Buffer {
  const version = random.happens(0.04) ? random.pick(VERSIONS) : "HTTP/1.1";
  const lines = [`${method} ${target} ${version}`];
  if (random.happens(0.97)) lines.push("host: test");
  lines.push(
    ...headers.map(([name, value]) => `${random.happens(0.1) ? name.toUpperCase() : name}: ${value}`),
  );
  if (random.happens(0.06)) lines.push(random.pick(ODD_LINES));
  const isChunked = body.length > 0 && random.happens(0.3);
  if (isChunked) lines.push("transfer-encoding: chunked");
  if ((body.length > 0 && !isChunked) || random.happens(0.03)) {
    lines.push(`content-length: ${toldLength(random, body.length)}`);
  }
  const text = [...lines, "", ""].map((line, index, all) =>
    index === all.length - 1 ? line : line + lineEnd(random),
  );
  return Buffer.concat([Buffer.from(text.join(""), "latin1"), isChunked ? chunked(random, body) : body]);
}

function lineEnd(random: Random): string {
  return random.happens(0.003) ? random.pick(LINE_ENDS) : "\r\n";
}

function chunked(random: Random, body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const chunk = body.subarray(at, at + random.integer(1, random.pick([4, 100, body.length])));
    const size = random.happens(0.005) ? random.pick(ODD_CHUNK_SIZES) : chunk.length.toString(16);
    parts.push(Buffer.from(`${size}\r\n`), chunk, Buffer.from("\r\n"));
    at += chunk.length;
  }
  const trailer = random.happens(0.1) ? "x-trailer: a\r\n" : "";
  if (random.happens(0.95)) parts.push(Buffer.from(`0\r\n${trailer}\r\n`));
  return Buffer.concat(parts);
}
