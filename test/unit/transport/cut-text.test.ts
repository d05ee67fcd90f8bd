import fc from "fast-check";
import { expect, it } from "vitest";
import { cutText } from "../../../src/transport/calls/bound-errors.ts";

const text = fc.string({ unit: "binary", maxLength: 200 });
const percentEncoded = (piece: string) => encodeURIComponent(piece).length;

it.each([
  ["UTF-8", (piece: string) => Buffer.byteLength(piece)],
  ["percent-encoding", percentEncoded],
])("a text is whole, or cut after the last character that fits, counted in %s", (_name, sizeOf) => {
  fc.assert(
    fc.property(text, fc.integer({ min: 16, max: 300 }), (given, maxBytes) => {
      const cut = cutText(given, maxBytes, sizeOf);
      expect(sizeOf(cut)).toBeLessThanOrEqual(maxBytes);
      if (sizeOf(given) <= maxBytes) {
        expect(cut).toBe(given);
        return;
      }
      const kept = cut.slice(0, -1);
      const [next = ""] = Array.from(given.slice(kept.length));
      expect(cut).toBe(`${kept}…`);
      expect(given.startsWith(kept)).toBe(true);
      expect(sizeOf(`${kept}${next}…`)).toBeGreaterThan(maxBytes);
    }),
  );
});

it("half a character from the caller is replaced", () => {
  expect(cutText("a\ud800b", 100)).toBe("a�b");
});
