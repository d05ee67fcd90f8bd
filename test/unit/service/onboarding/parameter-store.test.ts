import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { UnsupportedOutputError } from "../../../../src/protocol/parameters/network-key-output.ts";
import { createParameterBuilder } from "../../../../src/service/onboarding/build-parameters.ts";
import { createParameterStore } from "../../../../src/service/onboarding/parameter-store.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

const KEY = `0x${"a".repeat(64)}`;
const BYTES = new TextEncoder().encode("parameters of a curve");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "parameters-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the parameter store", () => {
  it("finds a blob by the digest of its bytes, even after a restart", async () => {
    const put = await createParameterStore(folder).put(KEY, 2, BYTES);
    expect(put).toEqual({ curve: 2, sha256: SHA256, sizeBytes: BYTES.length });
    const store = createParameterStore(folder);
    expect(await store.find(KEY)).toEqual([put]);
    expect(await store.size(SHA256)).toBe(BYTES.length);
  });

  it("finds nothing for another network key or another digest", async () => {
    const store = createParameterStore(folder);
    await store.put(KEY, 2, BYTES);
    expect(await store.find(`0x${"b".repeat(64)}`)).toEqual([]);
    expect(await store.size("0".repeat(64))).toBeUndefined();
  });

  it("treats a damaged file as absent", async () => {
    const store = createParameterStore(folder);
    await store.put(KEY, 2, BYTES);
    writeFileSync(path.join(folder, "parameters", `${SHA256}.bin`), "spoilt");
    expect(await store.find(KEY)).toEqual([]);
  });

  it("reads from an offset, in chunks", async () => {
    const store = createParameterStore(folder);
    await store.put(KEY, 2, BYTES);
    const chunks: string[] = [];
    for await (const chunk of store.read(SHA256, 11, 4)) chunks.push(Buffer.from(chunk).toString());
    expect(chunks).toEqual(["of a", " cur", "ve"]);
  });

  it("leaves no partial file", async () => {
    await createParameterStore(folder).put(KEY, 2, BYTES);
    expect(readdirSync(path.join(folder, "parameters")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe("the parameter builder", () => {
  it("does not build a blob that exists", async () => {
    const store = createParameterStore(folder);
    const put = await store.put(KEY, 2, BYTES);
    const builder = createParameterBuilder({
      clock: systemClock,
      store,
      curves: [2],
      reader: {
        networkKeys: async () => [{ id: KEY, epoch: 1 }],
        networkKeyOutput: () => Promise.reject(new Error("it must not be read")),
      },
      log: silentLog,
    });
    builder.start();
    await builder.stop();
    expect(builder.ready()).toEqual([{ ...put, networkKeyId: KEY }]);
  });

  it("starts no thread for an output that arrives after the stop", async () => {
    const threads: object[] = [];
    const noteThread = (thread: object): void => void threads.push(thread);
    process.on("worker", noteThread);
    await new Promise<void>((resolve, reject) => {
      const builder = createParameterBuilder({
        clock: systemClock,
        store: createParameterStore(folder),
        curves: [2],
        reader: {
          networkKeys: async () => [{ id: KEY, epoch: 1 }],
          networkKeyOutput: async () => {
            builder.stop().then(resolve, reject);
            return new Uint8Array(1);
          },
        },
        log: silentLog,
      });
      builder.start();
    });
    process.off("worker", noteThread);
    expect(threads).toEqual([]);
  });

  it("serves no parameters for a key without a readable output, and logs that once", async () => {
    const warnings: string[] = [];
    const failures: string[] = [];
    let reads = 0;
    let read: () => void = () => {};
    const retryRead = new Promise<void>((resolve) => {
      read = resolve;
    });
    const builder = createParameterBuilder({
      clock: systemClock,
      store: createParameterStore(folder),
      curves: [2],
      intervalMs: 1,
      reader: {
        networkKeys: async () => [{ id: KEY, epoch: 2 }],
        networkKeyOutput: () => {
          if (++reads === 2) read();
          return Promise.reject(new UnsupportedOutputError(1));
        },
      },
      log: {
        ...silentLog,
        warn: (_fields, message) => void warnings.push(message),
        error: (_fields, message) => void failures.push(message),
      },
    });
    builder.start();
    await retryRead;
    await builder.stop();
    expect(builder.ready()).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(failures).toEqual([]);
  });
});
