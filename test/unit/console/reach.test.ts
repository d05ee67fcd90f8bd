import { expect, it } from "vitest";
import { createReach, retryPauseMs } from "../../../src/console/api/reach.ts";

it("a silence begins with the first call without an answer, and ends with any answer", () => {
  let nowMs = 1_000;
  const reach = createReach(() => nowMs);
  const told: (number | undefined)[] = [];
  const leave = reach.follow(({ silentSinceMs }) => told.push(silentSinceMs));
  reach.answered();
  reach.silent();
  nowMs = 5_000;
  reach.silent();
  reach.answered();
  reach.silent();
  leave();
  reach.answered();
  expect(told).toEqual([undefined, 1_000, undefined, 5_000]);
});

it("the pauses between tries double, up to 15 seconds", () => {
  expect([1, 2, 3, 4, 50].map(retryPauseMs)).toEqual([2_000, 4_000, 8_000, 15_000, 15_000]);
});
