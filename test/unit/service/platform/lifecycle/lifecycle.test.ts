import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { Lifecycle } from "../../../../../src/service/platform/lifecycle/lifecycle.ts";
import { runUntilSignal } from "../../../../../src/service/platform/lifecycle/run-until-signal.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const log = silentLog;

function recorder() {
  const events: string[] = [];
  const life = new Lifecycle({ log, stopTimeoutMs: 20 });
  const part = (name: string) =>
    life.start(
      name,
      () => {
        events.push(`+${name}`);
        return name;
      },
      (started) => events.push(`-${started}`),
    );
  return { events, life, part };
}

describe("a lifecycle", () => {
  it("starts in order and stops in reverse, once", async () => {
    const { events, life, part } = recorder();
    expect(await part("a")).toBe("a");
    await part("b");
    expect(await Promise.all([life.stop(), life.stop()])).toEqual([true, true]);
    expect(events).toEqual(["+a", "+b", "-b", "-a"]);
  });

  it("names the part that did not start, with its error", async () => {
    const told: object[] = [];
    const life = new Lifecycle({ log: { ...log, error: (fields) => told.push(fields) } });
    const cause = new Error("connect ECONNREFUSED");
    await expect(
      life.start(
        "redis",
        () => Promise.reject(cause),
        () => {},
      ),
    ).rejects.toThrow(cause);
    expect(told).toEqual([{ part: "redis", cause }]);
  });

  it("stops the started parts if a later start fails", async () => {
    const { events, life, part } = recorder();
    await part("a");
    await expect(
      life.start(
        "b",
        () => Promise.reject(new Error("no port")),
        () => events.push("-b"),
      ),
    ).rejects.toThrow("no port");
    await life.stop();
    expect(events).toEqual(["+a", "-a"]);
  });

  it("continues past a part that fails or hangs, and is not clean then", async () => {
    for (const stop of [() => Promise.reject(new Error("broken")), () => new Promise(() => {})]) {
      const { events, life, part } = recorder();
      await part("a");
      life.onStop("bad", stop);
      expect(await life.stop()).toBe(false);
      expect(events).toEqual(["+a", "-a"]);
    }
  });

  it("is not clean if a part had to use force", async () => {
    const { life } = recorder();
    life.onStop("server", () => false);
    expect(await life.stop()).toBe(false);
  });

  it("starts nothing after its stop", async () => {
    const { life, part } = recorder();
    await life.stop();
    await expect(part("late")).rejects.toThrow("stopping");
  });
});

describe("a process that runs until a signal", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "stops on %s with code 0 if every part stopped without force",
    async (signal) => {
      const signals = new EventEmitter();
      const code = runUntilSignal({ signals, log, stop: async () => true, exit: () => {} });
      signals.emit(signal);
      expect(await code).toBe(0);
      expect(signals.eventNames()).toEqual([]);
    },
  );

  it("ends with code 1 if a part failed or was forced", async () => {
    for (const stop of [async () => false, () => Promise.reject(new Error("x"))]) {
      const signals = new EventEmitter();
      const code = runUntilSignal({ signals, log, stop, exit: () => {} });
      signals.emit("SIGTERM");
      expect(await code).toBe(1);
    }
  });

  it("ends at once on a second signal, but not on a repeat of the first within moments", async () => {
    const signals = new EventEmitter();
    const codes: number[] = [];
    let now = 0;
    let finish: (clean: boolean) => void = () => {};
    const stopped = new Promise<boolean>((resolve) => {
      finish = resolve;
    });
    const code = runUntilSignal({
      signals,
      log,
      stop: () => stopped,
      exit: (status) => codes.push(status),
      nowMs: () => now,
    });
    signals.emit("SIGINT");
    now = 999;
    signals.emit("SIGINT");
    expect(codes).toEqual([]);
    now = 1_000;
    signals.emit("SIGINT");
    expect(codes).toEqual([1]);
    finish(true);
    await code;
  });
});
