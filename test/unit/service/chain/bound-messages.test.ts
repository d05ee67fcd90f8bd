import { describe, expect, it } from "vitest";
import { boundMessages } from "../../../../src/service/chain/fullnodes/bound-messages.ts";

const STREAM = "https://node.example/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints";

/** A gRPC-web frame of a message, or only its header. */
function frame(messageBytes: number, sentBytes = messageBytes): Uint8Array<ArrayBuffer> {
  const octets = new Uint8Array(5 + sentBytes).fill(7, 5);
  octets[0] = 0;
  new DataView(octets.buffer).setUint32(1, messageBytes);
  return octets;
}

/** Reads the chunks of an answer with this body. */
async function chunksOf(chunks: readonly Uint8Array<ArrayBuffer>[], url = STREAM, maxBytes = 100) {
  const answer = async () =>
    new Response(
      new ReadableStream<Uint8Array<ArrayBuffer>>({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(chunk);
          controller.close();
        },
      }),
      { headers: { "content-type": "application/grpc-web+proto" } },
    );
  const { body } = await boundMessages(answer, maxBytes)(url);
  const read: Uint8Array[] = [];
  for await (const chunk of body!) read.push(chunk);
  return read;
}

describe("an answer about checkpoints", () => {
  it("passes with the same octets, one whole message at a time, however it was split into chunks", async () => {
    const sent = Buffer.concat([frame(0), frame(100), frame(3), frame(1)]);
    for (const size of [1, 3, 7, sent.length]) {
      const chunks = Array.from({ length: Math.ceil(sent.length / size) }, (_, index) =>
        Uint8Array.from(sent.subarray(index * size, (index + 1) * size)),
      );
      const read = await chunksOf(chunks);
      expect(read.map(({ length }) => length)).toEqual([5, 105, 8, 6]);
      expect(Buffer.concat(read)).toEqual(sent);
    }
  });

  it("fails at the header of a message over the limit, before its octets arrive", async () => {
    for (const url of [STREAM, "https://node.example/sui.rpc.v2.LedgerService/GetCheckpoint"])
      await expect(chunksOf([frame(3), frame(101, 0)], url)).rejects.toThrow("101 bytes; the limit is 100");
  });

  it("passes unchanged if it is truncated, so that its reader reports it", async () => {
    const read = await chunksOf([frame(3), frame(50, 10)]);
    expect(read.map(({ length }) => length)).toEqual([8, 15]);
  });

  it("yields at most one message in a turn of the event loop, so that they do not pile up", async () => {
    let turns = 0;
    let timer: NodeJS.Immediate;
    const turn = () => {
      turns++;
      timer = setImmediate(turn);
    };
    timer = setImmediate(turn);
    const read = await chunksOf([
      Uint8Array.from(Buffer.concat(Array.from({ length: 500 }, () => frame(1)))),
    ]);
    clearImmediate(timer);
    expect(read).toHaveLength(500);
    expect(turns).toBeGreaterThanOrEqual(499);
  });
});

describe("any other answer", () => {
  it("passes untouched", async () => {
    const answer = new Response(frame(101));
    const url = "https://node.example/sui.rpc.v2.LedgerService/GetObject";
    expect(await boundMessages(async () => answer, 100)(url)).toBe(answer);
  });
});
