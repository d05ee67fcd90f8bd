import { describe, expect, it } from "vitest";
import { createLaneTurns } from "../../../../../src/service/chain/submit/lane-turns.ts";

/** Lanes that record the order in which they are woken. */
function openLanes(count: number, busy: ReadonlySet<number> = new Set()) {
  const woken: number[] = [];
  const lanes = Array.from({ length: count }, (_, index) => ({
    isBusy: () => busy.has(index),
    wake: () => void woken.push(index),
  }));
  return { woken, turns: createLaneTurns(lanes) };
}

describe("a turn of the lanes", () => {
  it("begins with one lane, and at the next lane each time", () => {
    const { woken, turns } = openLanes(3);
    for (let count = 0; count < 4; count++) turns.begin();
    expect(woken).toEqual([0, 1, 2, 0]);
  });

  it("reaches every lane once if each hands it on, and then ends", () => {
    const { woken, turns } = openLanes(3);
    turns.begin();
    for (const index of [0, 1, 2, 0, 1]) turns.take(index)();
    expect(woken).toEqual([0, 1, 2]);
  });

  it("is handed on once, and by nobody who does not have it", () => {
    const { woken, turns } = openLanes(3);
    turns.take(1)();
    turns.begin();
    const handOn = turns.take(0);
    handOn();
    handOn();
    turns.take(2)();
    expect(woken).toEqual([0, 1]);
  });

  it("that begins while a lane looks is kept for its next look", () => {
    const { woken, turns } = openLanes(2);
    turns.begin();
    const handOn = turns.take(0);
    turns.begin();
    turns.begin();
    handOn();
    turns.take(0)();
    expect(woken).toEqual([0, 1, 0, 1, 1]);
  });

  it("passes over lanes with a lease", () => {
    const { woken, turns } = openLanes(3, new Set([0, 1]));
    turns.begin();
    expect(woken).toEqual([2]);
  });

  it("makes all lanes look again if all have a lease", () => {
    const { woken, turns } = openLanes(2, new Set([0, 1]));
    turns.begin();
    expect(woken).toEqual([0, 1]);
  });
});
