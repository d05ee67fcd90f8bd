import { ObjectError } from "@mysten/sui/client";
import { expect, test } from "vitest";
import { hexToBytes } from "../../../src/protocol/bytes.ts";
import {
  createChainReader,
  presentObjects,
  type SuiObjectSource,
} from "../../../src/protocol/chain/chain-reader.ts";
import { MixedUpAnswerError } from "../../../src/protocol/chain/read-errors.ts";

const ids = Array.from({ length: 120 }, (_, index) => `0x${index.toString(16).padStart(64, "0")}`);
const A = ids[10]!;
const B = ids[11]!;
const contentOf = (id: string) => Uint8Array.from([...hexToBytes(id.slice(2)), 7]);
const objectOf = (objectId: string) => ({ objectId, type: "0x2::a::B", content: contentOf(objectId) });

type Objects = Awaited<ReturnType<SuiObjectSource["getObjects"]>>["objects"];

/** A reader of a fullnode that answers each request with the result of `answer` for the requested ids. */
function readerOf(answer: (ids: string[]) => Objects, batches: number[] = []) {
  return createChainReader({
    async getObjects({ objectIds }) {
      batches.push(objectIds.length);
      return { objects: answer(objectIds) };
    },
  });
}

test("objects are read by id, 50 per request, and one that does not exist is absent", async () => {
  const batches: number[] = [];
  const absent = new ObjectError("notExists", "no such object", { reason: "notFound", objectId: A });
  const reader = readerOf((asked) => asked.map((id) => (id === A ? absent : objectOf(id))), batches);
  const found = await reader.getObjects(ids);
  expect(batches).toEqual([50, 50, 20]);
  expect(found.size).toBe(119);
  expect(found.has(A)).toBe(false);
  expect(found.get(B)).toEqual(contentOf(B));
});

test.each<[string, (asked: string[]) => Objects]>([
  ["mixes two objects up", ([a, b]) => [objectOf(b!), objectOf(a!)]],
  ["leaves an object out", ([a]) => [objectOf(a!)]],
  [
    "cannot say whether an object exists",
    ([a]) => [objectOf(a!), new ObjectError("UNAVAILABLE", "shard is down", { reason: "unknown" })],
  ],
])("a read fails if the fullnode %s", async (_, answer) => {
  await expect(readerOf(answer).getObjects([A, B])).rejects.toThrow();
});

test("of a client's answer, the objects that exist are used, and no answer that leaves this open", () => {
  const absent = new ObjectError("notExists", "no such object", { reason: "notFound", objectId: A });
  const object = objectOf(B);
  expect(presentObjects([absent, object])).toEqual([object]);
  for (const unclear of [
    new ObjectError("UNAVAILABLE", "shard is down", { reason: "unknown" }),
    new Error("the connection broke"),
  ])
    expect(() => presentObjects([object, unclear])).toThrow(MixedUpAnswerError);
});
