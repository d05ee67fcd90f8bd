import { expect, test, vi } from "vitest";
import { createClient } from "../../../../src/client/sdk/client.ts";

const made = vi.hoisted(() => ({ count: 0 }));
vi.mock("../../../../src/client/crypto/engines/inline-engine.ts", async (importOriginal) => {
  const original =
    await importOriginal<typeof import("../../../../src/client/crypto/engines/inline-engine.ts")>();
  return {
    createInlineEngine() {
      made.count++;
      return original.createInlineEngine();
    },
  };
});
const OPTIONS = { baseUrl: "http://127.0.0.1:1", apiKey: "tss_key", network: "localnet" } as const;

test("a client computes on the calling thread unless it is given an engine", async () => {
  createClient(OPTIONS);
  expect(made.count).toBe(1);
  const { createWorkerEngine } = await import("../../../../src/client/crypto/engines/worker-engine.ts");
  createClient({ ...OPTIONS, engine: createWorkerEngine() });
  expect(made.count).toBe(1);
});

test("a value that is no engine is refused, also the name of one", () => {
  for (const other of ["reference", 1, null]) {
    expect(() => createClient({ ...OPTIONS, engine: other as never })).toThrow(
      expect.objectContaining({ reason: "VALIDATION", message: expect.stringContaining("engine") }),
    );
  }
});
