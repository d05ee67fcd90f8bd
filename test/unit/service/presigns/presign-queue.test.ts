import { afterEach, expect, it, onTestFinished } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

const NEVER_MS = 1_000_000;
const bucket = { network: "localnet", curve: 0, signatureAlgorithm: 0, networkEncryptionKeyId: "0x1" };
const other = { ...bucket, curve: 2 };
const signals = createLocalSignals();
const patient = { projectId: "one", timeoutMs: NEVER_MS, signal: new AbortController().signal };
let presigns: string[] = [];
const attempt = async () => presigns.shift();
const deliver = (...names: string[]) => {
  presigns.push(...names);
  signals.notify(topics.presignReady("localnet"));
};
afterEach(() => {
  presigns = [];
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

it("returns an available presign without waiting", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals });
  presigns = ["a"];
  expect(await queue.take(bucket, patient, attempt)).toBe("a");
  expect(queue.waitedFor()).toEqual([]);
});

it("requests a refill when callers wait, and serves them in the order of their arrival", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS });
  const asked = new Promise<void>((resolve) => {
    signals.subscribe(topics.presignWanted("localnet"), resolve);
  });
  const served: string[] = [];
  const waiting = ["first", "second", "third"].map(async (name) => {
    const presign = await queue.take(bucket, patient, attempt);
    served.push(`${name} ${presign}`);
  });
  await asked;
  await settled();
  expect(queue.waitingCount(bucket)).toBe(3);
  expect(queue.waitedFor()).toEqual([bucket]);
  deliver("a", "b");
  await Promise.all(waiting.slice(0, 2));
  expect(served).toEqual(["first a", "second b"]);
  deliver("c");
  await Promise.all(waiting);
  expect(served).toEqual(["first a", "second b", "third c"]);
  expect(queue.waitingCount(bucket)).toBe(0);
});

it("serves waiting callers before new ones", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS });
  const first = queue.take(bucket, patient, attempt);
  await settled();
  presigns = ["a", "b"];
  const late = queue.take(bucket, patient, attempt);
  signals.notify(topics.presignReady("localnet"));
  expect([await first, await late]).toEqual(["a", "b"]);
});

it("lets projects take turns, and keeps the order within each", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS });
  const served: string[] = [];
  const join = async (projectId: string, name: string) => {
    await queue.take(bucket, { ...patient, projectId }, attempt);
    served.push(name);
  };
  const waiting = ["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => join(name[0]!, name));
  await settled();
  deliver("1", "2", "3", "4", "5", "6");
  await Promise.all(waiting);
  expect(served).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});

it("rejects a project's callers before they fill the queue", async () => {
  const queue = createPresignQueue({
    clock: systemClock,
    signals,
    pollMs: NEVER_MS,
    projectWaitingMaxCount: 2,
  });
  const waiting = [queue.take(bucket, patient, attempt), queue.take(bucket, patient, attempt)];
  await settled();
  expect(await queue.take(bucket, patient, attempt)).toBeUndefined();
  const neighbour = queue.take(bucket, { ...patient, projectId: "two" }, attempt);
  await settled();
  deliver("a", "b", "c");
  expect(await Promise.all([...waiting, neighbour])).toEqual(["a", "c", "b"]);
});

it("counts a project's callers at all buckets of single dWallets together", async () => {
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const wait = { ...patient, signal: end.signal };
  const outcomes: string[] = [];
  const queue = createPresignQueue({
    clock: systemClock,
    signals,
    pollMs: NEVER_MS,
    projectWaitingMaxCount: 2,
    onWait: (outcome) => outcomes.push(outcome),
  });
  const ofDWallet = (networkEncryptionKeyId: string) => ({
    ...bucket,
    networkEncryptionKeyId,
    ofDWallet: true,
  });
  const waiting = ["0xa", "0xb"].map((id) => queue.take(ofDWallet(id), wait, attempt));
  await settled();
  const refused = queue.take(ofDWallet("0xc"), wait, attempt);
  await settled();
  expect(outcomes).toEqual(["refused"]);
  expect(await refused).toBeUndefined();
  const others = [
    queue.take(ofDWallet("0xc"), { ...wait, projectId: "two" }, attempt),
    queue.take(bucket, wait, attempt),
  ];
  await settled();
  deliver("a", "b", "c", "d");
  expect((await Promise.all([...waiting, ...others])).toSorted()).toEqual(["a", "b", "c", "d"]);
});

it("polls if a signal is lost", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: 1 });
  const waiting = queue.take(bucket, patient, attempt);
  await settled();
  presigns = ["a"];
  expect(await waiting).toBe("a");
});

it("separates the buckets", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS });
  const waiting = queue.take(bucket, patient, attempt);
  await settled();
  expect(await queue.take(other, patient, async () => "of the other")).toBe("of the other");
  deliver("a");
  await waiting;
});

it("gives up at the deadline or when the caller leaves, and lets the next one try", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS });
  const caller = new AbortController();
  const late = queue.take(bucket, { ...patient, timeoutMs: 5 }, attempt);
  const gone = queue.take(bucket, { ...patient, signal: caller.signal }, attempt);
  const last = queue.take(bucket, patient, attempt);
  await settled();
  caller.abort();
  expect([await late, await gone]).toEqual([undefined, undefined]);
  deliver("a");
  expect(await last).toBe("a");
});

it("rejects callers beyond its capacity", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS, waitingMaxCount: 1 });
  const waiting = queue.take(bucket, patient, attempt);
  await settled();
  expect(await queue.take(bucket, patient, attempt)).toBeUndefined();
  deliver("a");
  await waiting;
});

it("rethrows an attempt's error and continues with the next caller", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: 1 });
  let isBroke = false;
  const failing = queue.take(bucket, patient, async () => {
    if (isBroke) throw new Error("no credit");
    return undefined;
  });
  const next = queue.take(bucket, patient, attempt);
  await settled();
  isBroke = true;
  await expect(failing).rejects.toThrow("no credit");
  deliver("a");
  expect(await next).toBe("a");
});

it("reports for each caller that found the bucket empty how its wait ended, and after how long", async () => {
  const clock = createManualClock();
  const reported: [string, number][] = [];
  const onWait = (...outcome: [string, number]) => reported.push(outcome);
  const queue = createPresignQueue({ clock, signals, pollMs: NEVER_MS, waitingMaxCount: 2, onWait });
  presigns = ["at once"];
  await queue.take(bucket, patient, attempt);
  const first = queue.take(bucket, patient, attempt);
  const late = queue.take(bucket, { ...patient, timeoutMs: 70 }, attempt);
  await settled();
  await queue.take(bucket, patient, attempt);
  clock.advance(30);
  deliver("a");
  await first;
  // The next caller is now the first.
  await settled();
  clock.advance(40);
  await late;
  expect(reported).toEqual([
    ["refused", 0],
    ["served", 30],
    ["gave_up", 70],
  ]);
});

it("refuses a caller that has left already", async () => {
  const queue = createPresignQueue({ clock: systemClock, signals, pollMs: NEVER_MS });
  const signal = AbortSignal.abort();
  const asked: string[] = [];
  const take = queue.take(bucket, { ...patient, signal }, async () => void asked.push("once"));
  expect(await take).toBeUndefined();
  expect([asked, queue.waitedFor()]).toEqual([["once"], []]);
});
