import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createJsonSplitter } from "../../../src/signer/ethereum/split-json.ts";

const MAX_BYTES = 1000;

describe("a stream of JSON texts", () => {
  it("is split into the same texts wherever its chunks end", () => {
    const text = fc.oneof(fc.dictionary(fc.string({ unit: "binary" }), fc.json()), fc.array(fc.json()));
    const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 9 }));
    const space = fc.constantFrom("", " ", "\n", "\r\n\t");
    fc.assert(
      fc.property(fc.array(fc.tuple(text, space), { maxLength: 5 }), cuts, (given, lengths) => {
        const bytes = Buffer.from(given.map(([value, gap]) => JSON.stringify(value) + gap).join(""));
        const splitter = createJsonSplitter(bytes.length + 1);
        const found: unknown[] = [];
        for (let at = 0; at < bytes.length; ) {
          const end = at + lengths.next().value;
          found.push(
            ...splitter.push(bytes.subarray(at, end)).map((each) => JSON.parse(each.toString()) as unknown),
          );
          at = end;
        }
        expect(found).toEqual(JSON.parse(JSON.stringify(given.map(([value]) => value))));
      }),
    );
  });

  it.each(["7", "GET / HTTP/1.1", "{} null", "\u00ff"])("of %j is refused", (text) => {
    expect(() => createJsonSplitter(MAX_BYTES).push(Buffer.from(text))).toThrow("object or array");
  });

  it("with a text above the limit is refused, at once or in chunks, and one of the limit is not", () => {
    const splitter = createJsonSplitter(MAX_BYTES);
    expect(splitter.push(Buffer.from(`["${"x".repeat(MAX_BYTES - 4)}"]`))).toHaveLength(1);
    expect(() => splitter.push(Buffer.from(`["${"x".repeat(MAX_BYTES - 3)}"]`))).toThrow(
      "more than 1000 bytes",
    );
    const slow = createJsonSplitter(MAX_BYTES);
    slow.push(Buffer.from(`["${"x".repeat(MAX_BYTES - 10)}`));
    expect(() => slow.push(Buffer.from("x".repeat(20)))).toThrow("more than 1000 bytes");
  });
});
