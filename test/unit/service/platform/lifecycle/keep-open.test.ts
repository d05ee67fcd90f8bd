import { expect, it } from "vitest";
import { keepOpen } from "../../../../../src/service/platform/lifecycle/keep-open.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

it("opening a network is retried, with pauses that double up to a minute", async () => {
  const clock = createManualClock();
  const triedAtMs: number[] = [];
  const kept = keepOpen({
    async open() {
      triedAtMs.push(clock.now());
      if (triedAtMs.length < 9) throw new Error("the fullnode is down");
      return "open";
    },
    clock,
    log: silentLog,
    isRetried: true,
  });
  await expect(kept.first).rejects.toThrow("the fullnode is down");
  while (kept.opened() === undefined) {
    await settled();
    clock.callNext();
  }
  const pauses = triedAtMs.slice(1).map((atMs, index) => atMs - triedAtMs[index]!);
  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(kept.opened()).toBe("open");
  await kept.stop();
});

it("opening the only network is not retried", async () => {
  const clock = createManualClock();
  let tries = 0;
  const kept = keepOpen<string>({
    async open() {
      tries++;
      throw new Error("the fullnode is down");
    },
    clock,
    log: silentLog,
    isRetried: false,
  });
  await expect(kept.first).rejects.toThrow("the fullnode is down");
  await settled();
  expect(clock.timerCount).toBe(0);
  expect(tries).toBe(1);
});

it("a failed attempt stops the parts that it had started", async () => {
  const stopped: string[] = [];
  const kept = keepOpen<string>({
    async open(lifecycle) {
      lifecycle.onStop("pool", () => void stopped.push("pool"));
      throw new Error("the fullnode is down");
    },
    clock: createManualClock(),
    log: silentLog,
    isRetried: false,
  });
  await expect(kept.first).rejects.toThrow();
  expect(stopped).toEqual(["pool"]);
});

it.each([true, false])("a stop reports whether its parts stopped without force: %s", async (isClean) => {
  const kept = keepOpen({
    async open(lifecycle) {
      // A part reports false if it used force.
      lifecycle.onStop("pool", () => isClean);
      return "open";
    },
    clock: createManualClock(),
    log: silentLog,
    isRetried: true,
  });
  await kept.first;
  expect(await kept.stop()).toBe(isClean);
});

it("a stop during an attempt leaves nothing running, even if the attempt ends later", async () => {
  const clock = createManualClock();
  const parts: string[] = [];
  let answer: () => void = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const kept = keepOpen<string>({
    async open(lifecycle) {
      await answered;
      await lifecycle.start(
        "loop",
        async () => parts.push("started"),
        async () => void parts.push("stopped"),
      );
      return "open";
    },
    clock,
    log: silentLog,
    isRetried: true,
  });
  await kept.stop();
  answer();
  await expect(kept.first).rejects.toThrow();
  await settled();
  expect(parts).toEqual([]);
  expect(clock.timerCount).toBe(0);
});

/** Runs all callbacks of resolved promises. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
