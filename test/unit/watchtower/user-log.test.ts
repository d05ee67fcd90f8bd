/** The lines of a user's log that a watchtower understands, read in parts of a growing or rotated file. */
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readState, type TowerState, writeState } from "../../../src/watchtower/tower-state.ts";
import { type LogPosition, readLog } from "../../../src/watchtower/user-log.ts";
import { createDWalletList, ServiceListError } from "../../../src/watchtower/watched-dwallets.ts";

let folder: string;
const at = (name: string) => path.join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-tower-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const HASH = "c".repeat(64);
const line = (change: object = {}) =>
  JSON.stringify({
    audit: "sign",
    outcome: "requested",
    messageSha256: HASH,
    idempotencyKey: "1",
    ...change,
  });
const read = (last?: LogPosition) => readLog(at("log"), last);

it("reads each complete line once, while the file grows, and a rotated file from its beginning", async () => {
  expect(await read()).toEqual({ requests: [], position: undefined, hasMore: false });
  writeFileSync(at("log"), `${line()}\n${line({ idempotencyKey: "2" }).slice(0, 30)}`);
  const first = await read();
  expect(first.requests).toEqual([{ what: HASH, key: "1", dwalletId: undefined }]);
  appendFileSync(at("log"), `${line({ idempotencyKey: "2" }).slice(30)}\n`);
  const second = await read(first.position);
  expect(second.requests.map(({ key }) => key)).toEqual(["2"]);
  expect((await read(second.position)).requests).toEqual([]);
  renameSync(at("log"), at("log.1"));
  writeFileSync(at("log"), `${line({ idempotencyKey: "3" })}\n${"x".repeat(300)}\n`);
  expect((await read(second.position)).requests.map(({ key }) => key)).toEqual(["3"]);
});

it("reads only the new lines of a copy that replaces the log", async () => {
  writeFileSync(at("log"), `${line()}\n`);
  const first = await read();
  const copy = (content: string) => {
    writeFileSync(at("copy"), content);
    renameSync(at("copy"), at("log"));
  };
  copy(`${line()}\n${line({ idempotencyKey: "2" })}\n`);
  const second = await read(first.position);
  expect(second.requests.map(({ key }) => key)).toEqual(["2"]);
  // As long as before, but another file.
  copy(`${line({ idempotencyKey: "3" })}\n${line({ idempotencyKey: "4" })}\n`);
  expect((await read(second.position)).requests.map(({ key }) => key)).toEqual(["3", "4"]);
});

it.each([
  ["another program's", "audit is not JSON"],
  ["an outcome", line({ outcome: "signed" })],
  ["one without a hash", line({ messageSha256: "no" })],
  ["one without a key", line({ idempotencyKey: undefined })],
  ["one with a wrong dWallet", line({ dwalletId: 1 })],
  ["an exit without a dWallet", JSON.stringify({ audit: "leave" })],
  ["an array", '["audit"]'],
])("skips a line: %s", async (_, text) => {
  writeFileSync(at("log"), `${text}\n${line({ dwalletId: "0x1" })}\n`);
  expect((await read()).requests).toEqual([{ what: HASH, key: "1", dwalletId: "0x1" }]);
});

it("keeps its state through a write, has none at first, and refuses another file", async () => {
  expect(await readState(at("state"))).toBeUndefined();
  const state: TowerState = {
    ...{ version: 1, chainId: "4c78adac", next: "12", logs: {}, expected: [], pending: [], untold: [] },
  };
  await writeState(at("state"), state);
  expect(await readState(at("state"))).toEqual(state);
  writeFileSync(at("state"), "{}");
  await expect(readState(at("state"))).rejects.toThrow("is not the state of a watchtower");
});

it("watches every dWallet that its file or the service ever named, within a bound", async () => {
  const [one, two, three] = ["1", "2", "3"].map((digit) => `0x${digit.repeat(64)}`) as [
    string,
    string,
    string,
  ];
  let named = [two];
  const list = createDWalletList({
    file: at("ids"),
    maxCount: 3,
    async *fromService() {
      yield* named;
    },
  });
  writeFileSync(at("ids"), `# alice\n${one} # spare\n\n`);
  await list.refresh();
  named = [];
  await list.refresh();
  expect([list.has(one), list.has(two), list.has(three), list.count()]).toEqual([true, true, false, 2]);
  // However many the service names, the file has its places.
  named = [three, `0x${"4".repeat(64)}`, `0x${"5".repeat(64)}`];
  writeFileSync(at("ids"), `${one}\n${three}\n0x${"6".repeat(64)}\n`);
  await expect(list.refresh()).rejects.toThrow(ServiceListError);
  expect([list.has(three), list.has(`0x${"6".repeat(64)}`), list.count()]).toEqual([true, true, 5]);
  named = Array(4).fill(two);
  await expect(list.refresh()).rejects.toThrow("more than 3 dWallets are watched");
  writeFileSync(at("ids"), ["7", "8"].map((digit) => `0x${digit.repeat(64)}\n`).join(""));
  await expect(list.refresh()).rejects.not.toThrow(ServiceListError);
  writeFileSync(at("ids"), "0x12\n");
  await expect(list.refresh()).rejects.toThrow("line 1");
});
