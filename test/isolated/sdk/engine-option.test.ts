import { expect, test, vi } from "vitest";
import { chooseEngine } from "../../../src/sdk/choose-engine.ts";
import { createClient } from "../../../src/sdk/client.ts";

const loaded = vi.hoisted(() => ({ count: 0 }));
vi.mock("../../../src/crypto/ika-wasm.ts", () => ({
  loadIkaWasm: () => {
    loaded.count++;
    return Promise.reject(new Error("not here"));
  },
}));

test("the WebAssembly is loaded by the reference engine, and not by the default one", async () => {
  await chooseEngine(undefined).ready();
  expect(loaded.count).toBe(0);
  await expect(chooseEngine("reference").ready()).rejects.toThrow("not here");
  expect(loaded.count).toBe(1);
});

test("an engine of the caller is used, and another value is refused", () => {
  const engine = chooseEngine(undefined);
  expect(chooseEngine(engine)).toBe(engine);
  const options = { baseUrl: "http://127.0.0.1:1", apiKey: "tss_key", network: "localnet" } as const;
  for (const other of ["fast", 1, null]) {
    expect(() => createClient({ ...options, engine: other as never })).toThrow(
      expect.objectContaining({ reason: "VALIDATION", message: expect.stringContaining("engine") }),
    );
  }
});
