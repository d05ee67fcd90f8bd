import type { Random } from "../sim/random.ts";
import { FLAG, frame, headerBlock, PREFACE, settings, TYPE, word } from "./http2-frames.ts";
import { type FuzzRequest, makeRequest, toldLength } from "./make-request.ts";
import { randomBytes } from "./mutate-bytes.ts";

const LARGEST_WINDOW = 2 ** 31 - 1;
const ODD_FIELDS: readonly (readonly [string, string])[] = [
  ["Upper", "a"],
  ["connection", "close"],
  ["te", "gzip"],
  ["", "a"],
  [":late", "a"],
  [":path", "/"],
  ["a b", "c"],
  ["x", "a\nb"],
  ["x", "\0"],
  ["x", " a "],
  ["x-utf8", "\xc3\xa9\xf0\x9f\x98\x88"],
  ["x-bytes", "\xff\xfe\x80"],
  ["cookie", "a=b"],
  ["cookie", "c=d"],
  ["content-length", "0"],
  [":protocol", "websocket"],
  ["x-long", "a".repeat(17_000)],
];
const AUTHORITIES = ["", "a b", "[", "a:99999", "user@a", "\xff"];

/** An HTTP/2 connection: requests with control frames between them, some of them wrong. */
export function http2Bytes(random: Random): { bytes: Buffer; mayStay: boolean } {
  // The windows are so large that no reply waits for the client.
  const start = [PREFACE, settings([[4, LARGEST_WINDOW]]), windowUpdate(0, LARGEST_WINDOW - 65_535)];
  if (random.happens(0.9)) start.push(frame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(0)));
  const frames: Buffer[] = [];
  let mayStay = false;
  const streams = random.pick([1, 1, 2, 3, 5, 20]);
  for (let index = 0; index < streams; index++) {
    const request = makeRequest(random);
    const id = 2 * index + 1;
    mayStay ||= request.mayStay;
    frames.push(
      ...encode(random, random.happens(0.01) ? random.pick([0, 2, 1, LARGEST_WINDOW]) : id, request),
    );
    if (!random.happens(0.25)) continue;
    const control = controlFrame(random, random.happens(0.8) ? id : random.integer(0, 41));
    mayStay ||= control.mayStay;
    frames.push(control.bytes);
  }
  return {
    bytes: Buffer.concat([...start, ...(random.happens(0.2) ? shuffled(random, frames) : frames)]),
    mayStay,
  };
}

function encode(random: Random, id: number, { method, target, headers, body }: FuzzRequest): Buffer[] {
  const pseudo: [string, string][] = [
    [":method", random.happens(0.01) ? "CONNECT" : method],
    [":scheme", random.happens(0.98) ? "http" : "x"],
    [":path", target],
    [":authority", random.happens(0.97) ? "test" : random.pick(AUTHORITIES)],
  ];
  if (random.happens(0.03)) pseudo.splice(random.integer(0, 3), 1);
  // HTTP/1.1-only header names end the stream at once.
  const own = headers.filter(
    ([name]) => !/^(?:transfer-encoding|upgrade|host)$/.test(name) || random.happens(0.1),
  );
  const fields = [...pseudo, ...own.filter(([, value]) => !value.includes("\0"))];
  if (random.happens(0.1)) fields.push(["content-length", toldLength(random, body.length)]);
  if (random.happens(0.08)) fields.splice(random.integer(0, fields.length), 0, random.pick(ODD_FIELDS));
  const isAlone = body.length === 0 && random.happens(0.95);
  return [...headFrames(random, id, fields, isAlone), ...(isAlone ? [] : bodyFrames(random, id, body))];
}

function headFrames(
  random: Random,
  id: number,
  fields: (readonly [string, string])[],
  isAlone: boolean,
): Buffer[] {
  const block = headerBlock(random, fields);
  const end = isAlone ? FLAG.endStream : 0;
  if (random.happens(0.03)) {
    return [
      frame(
        TYPE.headers,
        end | FLAG.endHeaders | FLAG.priority,
        id,
        Buffer.concat([word(id), Buffer.from([9]), block]),
      ),
    ];
  }
  if (random.happens(0.85) && block.length < 16_384)
    return [frame(TYPE.headers, end | FLAG.endHeaders, id, block)];
  const parts: Buffer[] = [];
  const sizeBytes = random.integer(Math.ceil(block.length / 30), 16_000);
  for (let at = 0; at < block.length; at += sizeBytes) parts.push(block.subarray(at, at + sizeBytes));
  return parts.map((part, index) => {
    const last = index === parts.length - 1 && random.happens(0.97) ? FLAG.endHeaders : 0;
    return index === 0 ? frame(TYPE.headers, end | last, id, part) : frame(TYPE.continuation, last, id, part);
  });
}

function bodyFrames(random: Random, id: number, body: Buffer): Buffer[] {
  const out: Buffer[] = [];
  const sizeBytes = random.pick([3, 100, 16_384, 16_384, 16_384]);
  const most = Math.max(sizeBytes, Math.ceil(body.length / 50));
  for (let at = 0; at < body.length; at += most)
    out.push(frame(TYPE.data, 0, id, body.subarray(at, at + Math.min(most, 16_384))));
  const ending = random.next();
  if (ending < 0.85) out.push(frame(TYPE.data, FLAG.endStream, id, Buffer.alloc(0)));
  else if (ending < 0.88)
    out.push(frame(TYPE.data, FLAG.endStream | FLAG.padded, id, Buffer.from([random.pick([0, 1, 200])])));
  else if (ending < 0.94) out.push(...headFrames(random, id, [["x-trailer", "a"]], true));
  else if (ending < 0.97) out.push(frame(TYPE.reset, 0, id, word(random.integer(0, 14))));
  return out;
}

function controlFrame(random: Random, id: number): { bytes: Buffer; mayStay: boolean } {
  const odd = random.happens(0.2) ? random.integer(0, 70_000) : undefined;
  // A frame that may leave a stream without a window may also keep it open.
  const starving = { mayStay: true };
  const fine = { mayStay: false };
  return random.pick([
    () => ({ bytes: frame(TYPE.ping, random.integer(0, 1), 0, Buffer.alloc(8), odd), ...fine }),
    () => ({ bytes: frame(TYPE.reset, 0, id, word(random.integer(0, 14)), odd), ...fine }),
    () => ({ bytes: frame(TYPE.priority, 0, id, Buffer.from([0, 0, 0, id, 1]), odd), ...fine }),
    () => ({ bytes: windowUpdate(random.pick([0, id]), random.pick([0, 1, LARGEST_WINDOW])), ...starving }),
    () => ({
      bytes: settings([[random.integer(0, 9), random.pick([0, 1, 100, 2 ** 31, 2 ** 32 - 1])]]),
      ...starving,
    }),
    () => ({ bytes: frame(TYPE.settings, FLAG.ack, 0, Buffer.alloc(random.integer(0, 6))), ...fine }),
    () => ({
      bytes: frame(TYPE.goaway, 0, 0, Buffer.concat([word(id), word(random.integer(0, 14))])),
      ...fine,
    }),
    () => ({ bytes: frame(TYPE.pushPromise, FLAG.endHeaders, id, word(2)), ...fine }),
    () => ({ bytes: frame(TYPE.continuation, FLAG.endHeaders, id, Buffer.alloc(0)), ...fine }),
    () => ({
      bytes: frame(random.integer(0, 255), random.integer(0, 255), id, randomBytes(random, 30), odd),
      ...starving,
    }),
  ])();
}

function windowUpdate(id: number, sizeBytes: number): Buffer {
  return frame(TYPE.windowUpdate, 0, id, word(sizeBytes));
}

function shuffled(random: Random, frames: Buffer[]): Buffer[] {
  const out = [...frames];
  for (let at = out.length - 1; at > 0; at--) {
    const other = random.integer(0, at);
    [out[at], out[other]] = [out[other]!, out[at]!];
  }
  return out;
}
