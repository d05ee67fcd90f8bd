import { once } from "node:events";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { receiveBody, UNINTERRUPTED } from "../../../src/transport/http/receive-body.ts";

it("a body of one-byte chunks arrives whole, and few chunks are kept", async () => {
  const sent = Uint8Array.from({ length: 5_000 }, (_, index) => (index * 31) % 256);
  const source = Readable.from([...sent].map((byte) => Buffer.of(byte)));
  let longestFirst = 0;
  const body = await receiveBody(source, UNINTERRUPTED, {
    timeoutMs: undefined,
    check: (_, first) => {
      longestFirst = Math.max(longestFirst, first.byteLength);
    },
  });
  expect(body).toEqual(Buffer.from(sent));
  // Chunks were merged on arrival.
  expect(longestFirst).toBeGreaterThan(4_000);
});

it("a body that ended before it is read is empty", async () => {
  const source = Readable.from([]).resume();
  await once(source, "end");
  const body = receiveBody(source, UNINTERRUPTED, { timeoutMs: 1, check: () => {} });
  expect(await body).toEqual(Buffer.alloc(0));
});
