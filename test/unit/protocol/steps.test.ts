import { expect, it } from "vitest";
import { runSteps, type Steps } from "../../../src/protocol/chain/read-errors.ts";

it("a computation runs to its end without its pauses", () => {
  function* count(): Steps<number> {
    let sum = 0;
    for (let step = 1; step <= 3; step++) {
      sum += step;
      yield;
    }
    return sum;
  }
  expect(runSteps(count())).toBe(6);
});

it("a computation that waits for another thread cannot run without a pause", () => {
  function* wait(): Steps<number> {
    yield Promise.resolve();
    return 1;
  }
  expect(() => runSteps(wait())).toThrow("waits for another thread");
});
