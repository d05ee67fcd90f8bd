import { expect, test, vi } from "vitest";
import { callsHere } from "../../../../src/client/crypto/engines/calls-here.ts";
import { createInlineEngine } from "../../../../src/client/crypto/engines/inline-engine.ts";
import { loadPart, PartMissingError } from "../../../../src/client/crypto/load-part.ts";

vi.mock("../../../../src/client/crypto/engines/plain-calls.ts", () => {
  throw new Error("the chunk is gone");
});

test("a part that cannot be loaded is a PartMissingError with the loader's error as its cause", async () => {
  const cause = new TypeError("Failed to fetch dynamically imported module");
  const error = await loadPart(() => Promise.reject(cause)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PartMissingError);
  expect((error as PartMissingError).cause).toBe(cause);
});

test("a signal ends the wait for a part with its own reason, even if it was aborted before", async () => {
  const never = () => new Promise<never>(() => {});
  const controller = new AbortController();
  const waiting = loadPart(never, controller.signal);
  controller.abort(new Error("no more"));
  await expect(waiting).rejects.toThrow("no more");
  const load = vi.fn(never);
  await expect(loadPart(load, controller.signal)).rejects.toThrow("no more");
  expect(load).not.toHaveBeenCalled();
});

test("an engine whose computations cannot be loaded rejects `ready`", async () => {
  await expect(createInlineEngine().ready()).rejects.toBeInstanceOf(PartMissingError);
});

test("a call whose computation cannot be loaded overwrites its secrets", async () => {
  const seed = new Uint8Array(32).fill(7);
  const call = callsHere().run("deriveUserKeys", { curve: "ED25519", seed }, undefined);
  await expect(call).rejects.toBeInstanceOf(PartMissingError);
  expect(seed).toEqual(new Uint8Array(32));
});
