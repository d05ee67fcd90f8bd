import { mkdtemp, open, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openJournal, replaceJournal } from "../../../src/localnet/durable-ledger.ts";

let directory: string;
let path: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "journal-"));
  path = join(directory, "journal");
});
afterEach(() => rm(directory, { recursive: true }));

async function write(records: readonly Uint8Array[]): Promise<void> {
  const { journal } = await openJournal(path);
  for (const record of records) await journal.append(record);
  await journal.close();
}

async function read(): Promise<{ records: Uint8Array[]; cutBytes: number }> {
  const { records, cutBytes, journal } = await openJournal(path);
  await journal.close();
  return { records: records.map((record) => Uint8Array.from(record)), cutBytes };
}

const text = (value: string) => Uint8Array.from(Buffer.from(value));

test("appended records are read back in order after reopenings", async () => {
  await write([text("one"), new Uint8Array(), text("two")]);
  await write([text("three")]);
  expect((await read()).records).toEqual([text("one"), new Uint8Array(), text("two"), text("three")]);
});

test("a file that is cut at any byte yields a prefix of whole records, and accepts new ones", async () => {
  const records = [text("first"), text("second record"), text("third")];
  await write(records);
  const whole = await readFile(path);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), async (length) => {
      await writeFile(path, whole);
      await truncate(path, length);
      const { records: kept, cutBytes } = await read();
      expect(kept).toEqual(records.slice(0, kept.length));
      const lost = (await stat(path)).size;
      expect(lost + cutBytes).toBe(length);
      await write([text("after")]);
      expect((await read()).records).toEqual([...kept, text("after")]);
    }),
    { numRuns: 40 },
  );
});

test("a torn last record, whatever its bytes, is cut off", async () => {
  await write([text("kept"), text("torn away")]);
  const bytes = await readFile(path);
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 0xff;
  await writeFile(path, bytes);
  expect((await read()).records).toEqual([text("kept")]);
});

test("zeros after the last record, which some file systems leave, are cut off", async () => {
  await write([text("kept")]);
  const file = await open(path, "a");
  await file.write(Buffer.alloc(100));
  await file.close();
  expect(await read()).toEqual({ records: [text("kept")], cutBytes: 100 });
});

test("damage before the end is refused, because cutting there would lose acknowledged records", async () => {
  await write([text("first"), text("second")]);
  const bytes = await readFile(path);
  bytes[9] = (bytes[9] as number) ^ 1;
  await writeFile(path, bytes);
  await expect(openJournal(path)).rejects.toThrow("damaged at byte 0");
});

test("a replaced journal has the new records and accepts more", async () => {
  await write([text("old"), text("old")]);
  await replaceJournal(path, [text("new")]);
  await write([text("next")]);
  expect((await read()).records).toEqual([text("new"), text("next")]);
});
