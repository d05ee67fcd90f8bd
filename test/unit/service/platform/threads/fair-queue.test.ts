import { describe, expect, it } from "vitest";
import { createFairQueue } from "../../../../../src/service/platform/threads/fair-queue.ts";

/** Takes all items out of a queue, in order. */
function drained(queue: ReturnType<typeof createFairQueue<string>>): string[] {
  const items: string[] = [];
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) items.push(item);
  return items;
}

describe("a fair queue", () => {
  it("serves its subjects in turn, and each one's items in order", () => {
    const queue = createFairQueue<string>({ maxCount: 10, subjectMaxCount: 10 });
    for (const item of ["a1", "a2", "a3", "b1", "c1", "c2"]) queue.push(item[0]!, item);
    expect(drained(queue)).toEqual(["a1", "b1", "c1", "a2", "c2", "a3"]);
    expect(drained(queue)).toEqual([]);
  });

  it("serves the others before a subject that returns", () => {
    const queue = createFairQueue<string>({ maxCount: 10, subjectMaxCount: 10 });
    for (const item of ["a1", "a2", "b1"]) queue.push(item[0]!, item);
    expect(queue.shift()).toBe("a1");
    queue.push("a", "a3");
    expect(drained(queue)).toEqual(["b1", "a2", "a3"]);
  });

  it("refuses an item of a subject at its limit", () => {
    const queue = createFairQueue<string>({ maxCount: 10, subjectMaxCount: 2 });
    expect([1, 2, 3].map((n) => queue.push("a", `a${n}`))).toEqual([undefined, undefined, "a3"]);
    expect(queue.push("b", "b1")).toBeUndefined();
    expect(drained(queue)).toEqual(["a1", "b1", "a2"]);
    expect(queue.push("a", "a4")).toBeUndefined();
  });

  it("drops the newest item of the subject with the most items when it is full", () => {
    const queue = createFairQueue<string>({ maxCount: 3, subjectMaxCount: 3 });
    for (const item of ["a1", "a2", "b1"]) expect(queue.push(item[0]!, item)).toBeUndefined();
    expect(queue.push("c", "c1")).toBe("a2");
    // Each subject has one item, so the newcomer is refused, and no subject loses its item.
    expect(queue.push("d", "d1")).toBe("d1");
    expect(drained(queue)).toEqual(["a1", "b1", "c1"]);
  });

  it("is empty after it is cleared, and returns its items", () => {
    const queue = createFairQueue<string>({ maxCount: 2, subjectMaxCount: 2 });
    queue.push("a", "a1");
    queue.push("a", "a2");
    expect(queue.clear()).toEqual(["a1", "a2"]);
    expect(queue.push("b", "b1")).toBeUndefined();
    expect(drained(queue)).toEqual(["b1"]);
  });
});
