import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type BackOff, createBackOffs } from "../../../../src/service/chain/fullnodes/back-off.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";

const tooMuch = () => Promise.reject(Object.assign(new Error("slow down"), { code: "RESOURCE_EXHAUSTED" }));

describe("back-off", () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 0;
    vi.spyOn(Math, "random").mockReturnValue(1);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Whether a call is delayed now, tested with a caller that has already left. */
  async function isKeptBack(backOff: BackOff): Promise<boolean> {
    let ran = false;
    const gone = AbortSignal.abort();
    const call = async () => {
      ran = true;
    };
    await backOff.run(call, gone).catch(() => undefined);
    return !ran;
  }

  it("delays all calls for a while after the fullnode has rate-limited one", async () => {
    const backOff = createBackOffs({ ...systemClock, now: () => nowMs }).work;
    expect(await isKeptBack(backOff)).toBe(false);
    await expect(backOff.run(tooMuch)).rejects.toThrow("slow down");
    nowMs = 249;
    expect(await isKeptBack(backOff)).toBe(true);
    nowMs = 250;
    expect(await isKeptBack(backOff)).toBe(false);
  });

  it("doubles the delay while rejections continue, and resets it after a success", async () => {
    const backOff = createBackOffs({ ...systemClock, now: () => nowMs }).work;
    await backOff.run(tooMuch).catch(() => undefined);
    nowMs = 250;
    await backOff.run(tooMuch).catch(() => undefined);
    nowMs = 749;
    expect(await isKeptBack(backOff)).toBe(true);
    nowMs = 750;
    expect(await isKeptBack(backOff)).toBe(false);
    await backOff.run(tooMuch).catch(() => undefined);
    nowMs = 1000;
    expect(await isKeptBack(backOff)).toBe(false);
  });

  it("does not start after another kind of failure", async () => {
    const backOff = createBackOffs({ ...systemClock, now: () => nowMs }).work;
    await expect(backOff.run(() => Promise.reject(new Error("fetch failed")))).rejects.toThrow();
    expect(await isKeptBack(backOff)).toBe(false);
  });

  it("of callers and background reads never delays the work on the chain", async () => {
    const { work, background, callers } = createBackOffs({ ...systemClock, now: () => nowMs });
    for (let count = 0; count < 100; count++) {
      await callers.run(tooMuch).catch(() => undefined);
      expect([await isKeptBack(work), await isKeptBack(background)]).toEqual([false, false]);
      expect(await isKeptBack(callers)).toBe(true);
      nowMs += 15_000;
    }
    await background.run(tooMuch).catch(() => undefined);
    expect(await isKeptBack(work)).toBe(false);
    expect([await isKeptBack(background), await isKeptBack(callers)]).toEqual([true, true]);
  });

  it("of the work on the chain delays all calls, so that this work resumes first", async () => {
    const { work, background, callers } = createBackOffs({ ...systemClock, now: () => nowMs });
    await work.run(tooMuch).catch(() => undefined);
    nowMs = 249;
    for (const backOff of [work, background, callers]) expect(await isKeptBack(backOff)).toBe(true);
    nowMs = 250;
    for (const backOff of [work, background, callers]) expect(await isKeptBack(backOff)).toBe(false);
  });
});
