import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { transcript } from "../../../../src/protocol/proofs/transcript.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

it("a transcript equals the merlin crate's published test", () => {
  const hash = transcript("test protocol");
  hash.append("some label", utf8("some data"));
  expect(bytesToHex(hash.challenge("challenge", 32))).toBe(
    "d5a21972d0d5fe320c0d263fac7fffb8145aa640af6e9bca177c03c7efcf0615",
  );
});

it("a transcript's challenge depends on every label and message and on their order, across block boundaries", () => {
  const challenges = [
    [["a", "x"]],
    [["b", "x"]],
    [["a", "y"]],
    [
      ["a", "x"],
      ["a", "x"],
    ],
    [["a", "x".repeat(165)]],
    [["a", "x".repeat(166)]],
    [["a", "x".repeat(1000)]],
  ].map((messages) => {
    const hash = transcript("test");
    for (const [label, message] of messages as [string, string][]) hash.append(label, utf8(message));
    return bytesToHex(hash.challenge("challenge", 200));
  });
  expect(new Set(challenges).size).toBe(challenges.length);
});

it("a second challenge differs from the first", () => {
  const hash = transcript("test");
  expect(hash.challenge("c", 16)).not.toEqual(hash.challenge("c", 16));
});

it("values are absorbed as JSON indented by two spaces", () => {
  const [json, text] = [transcript("test"), transcript("test")];
  json.appendJson("value", { a: [1, "b"] });
  text.append("value", utf8('{\n  "a": [\n    1,\n    "b"\n  ]\n}'));
  expect(json.challenge("c", 32)).toEqual(text.challenge("c", 32));
});

it("a transcript that returns to a mark has its state at the mark", () => {
  const [marked, plain] = [transcript("test"), transcript("test")];
  for (const hash of [marked, plain]) hash.append("a", utf8("x".repeat(300)));
  const rewind = marked.mark();
  for (const length of [10, 500]) {
    marked.append("b", utf8("y".repeat(length)));
    marked.challenge("c", length);
    rewind();
  }
  expect(marked.challenge("c", 32)).toEqual(plain.challenge("c", 32));
});
