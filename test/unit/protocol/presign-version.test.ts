import { expect, it } from "vitest";
import { PRESIGN_VERSION, presignVersion } from "../../../src/protocol/presign-version.ts";

it("the version of a presign is its first byte plus one, and 0 without bytes", () => {
  expect(presignVersion(Uint8Array.of(1, 9))).toBe(PRESIGN_VERSION);
  expect(presignVersion(Uint8Array.of(2))).toBe(3);
  expect(presignVersion(new Uint8Array())).toBe(0);
});
