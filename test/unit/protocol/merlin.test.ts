import { bytesToHex } from "@noble/hashes/utils.js";
import { expect, test } from "vitest";
import { createTranscript } from "../../../src/protocol/signatures/merlin.ts";

test("the transcript equals merlin's own test vector", () => {
  const transcript = createTranscript("test protocol").append("some label", "some data");
  expect(bytesToHex(transcript.challenge("challenge", 32))).toBe(
    "d5a21972d0d5fe320c0d263fac7fffb8145aa640af6e9bca177c03c7efcf0615",
  );
});

test("a challenge depends on the label, the message and the border between messages", () => {
  const draw = (...messages: readonly (readonly [string, string])[]): string => {
    const transcript = createTranscript("t");
    for (const [label, message] of messages) transcript.append(label, message);
    return bytesToHex(transcript.challenge("c", 16));
  };
  const seen = [
    draw(["a", "xy"]),
    draw(["b", "xy"]),
    draw(["a", "xz"]),
    draw(["a", "x"], ["a", "y"]),
    draw(["a", "x"], ["y", ""]),
    // Longer than one block of the sponge.
    draw(["a", "x".repeat(400)]),
    draw(["a", "x".repeat(401)]),
  ];
  expect(new Set(seen).size).toBe(seen.length);
});
