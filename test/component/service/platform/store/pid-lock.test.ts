import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { takePidLock } from "../../../../../src/service/platform/store/pid-lock.ts";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tss-lock-"));
  file = path.join(folder, "pg.lock");
});
afterEach(() => rm(folder, { recursive: true }));

it("a lock has one holder at a time, and is free after its release", async () => {
  const lock = await takePidLock(file);
  await expect(takePidLock(file)).rejects.toThrow(`process ${process.pid} uses the embedded database`);
  await lock.release();
  await lock.release();
  await (await takePidLock(file)).release();
  expect(await readdir(folder)).toEqual([]);
});

it("a refused lock names the running process that holds it", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e6)"]);
  await once(child, "spawn");
  try {
    await writeFile(file, JSON.stringify({ pid: child.pid, token: "other" }));
    await expect(takePidLock(file)).rejects.toThrow(`process ${child.pid} uses`);
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await (await takePidLock(file)).release();
});

it("a lock is taken over from an earlier process with the same id", async () => {
  await writeFile(file, JSON.stringify({ pid: process.pid, token: "before the restart" }));
  await (await takePidLock(file)).release();
});

it.runIf(process.platform === "linux")("a lock is not kept by a later process with its id", async () => {
  await writeFile(file, JSON.stringify({ pid: process.ppid, startTicks: "1", token: "before the reboot" }));
  await (await takePidLock(file)).release();
});

it("a lock of a dead process goes to exactly one of the many processes that find it", async () => {
  await writeFile(file, JSON.stringify({ pid: process.pid, token: "before the restart" }));
  const results = await Promise.allSettled(Array.from({ length: 16 }, () => takePidLock(file)));
  const taken = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(taken).toHaveLength(1);
  expect(await readdir(folder)).toEqual(["pg.lock"]);
  await taken[0]!.release();
});

it("a file that is not a lock is never taken over", async () => {
  await writeFile(file, "something else");
  await expect(takePidLock(file)).rejects.toThrow("not a lock file");
});
