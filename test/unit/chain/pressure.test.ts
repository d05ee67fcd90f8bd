import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPressures, type Pressure } from "../../../src/chain/pressure.ts";

const tooMuch = () => Promise.reject(Object.assign(new Error("slow down"), { code: "RESOURCE_EXHAUSTED" }));

describe("pressure", () => {
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 0;
    vi.spyOn(Math, "random").mockReturnValue(1);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** How long a call that comes now is kept back, found by a caller who goes away at once. */
  async function isKeptBack(pressure: Pressure): Promise<boolean> {
    let ran = false;
    const gone = AbortSignal.abort();
    const call = async () => {
      ran = true;
    };
    await pressure.run(call, gone).catch(() => undefined);
    return !ran;
  }

  it("keeps all calls back for a while after the fullnode has refused one for being one too many", async () => {
    const pressure = createPressures(() => nowMs).work;
    expect(await isKeptBack(pressure)).toBe(false);
    await expect(pressure.run(tooMuch)).rejects.toThrow("slow down");
    nowMs = 249;
    expect(await isKeptBack(pressure)).toBe(true);
    nowMs = 250;
    expect(await isKeptBack(pressure)).toBe(false);
  });

  it("doubles the pause while refusals go on, and forgets them after a success", async () => {
    const pressure = createPressures(() => nowMs).work;
    await pressure.run(tooMuch).catch(() => undefined);
    nowMs = 250;
    await pressure.run(tooMuch).catch(() => undefined);
    nowMs = 749;
    expect(await isKeptBack(pressure)).toBe(true);
    nowMs = 750;
    expect(await isKeptBack(pressure)).toBe(false);
    await pressure.run(tooMuch).catch(() => undefined);
    nowMs = 1000;
    expect(await isKeptBack(pressure)).toBe(false);
  });

  it("is not begun by another failure", async () => {
    const pressure = createPressures(() => nowMs).work;
    await expect(pressure.run(() => Promise.reject(new Error("fetch failed")))).rejects.toThrow();
    expect(await isKeptBack(pressure)).toBe(false);
  });

  it("of callers, and of what the service looks at, never keeps back the work on the chain", async () => {
    const { work, background, callers } = createPressures(() => nowMs);
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

  it("of the work on the chain keeps everything back, so that it is the first to get through again", async () => {
    const { work, background, callers } = createPressures(() => nowMs);
    await work.run(tooMuch).catch(() => undefined);
    nowMs = 249;
    for (const pressure of [work, background, callers]) expect(await isKeptBack(pressure)).toBe(true);
    nowMs = 250;
    for (const pressure of [work, background, callers]) expect(await isKeptBack(pressure)).toBe(false);
  });
});
