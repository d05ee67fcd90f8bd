import { describe, expect, test } from "vitest";
import { sleep } from "../../../src/protocol/poll.ts";
import { runAction } from "../../../src/sdk/action.ts";

describe("an action", () => {
  test("that times out always reports it, so that its caller resumes it", async () => {
    const ends = Array.from({ length: 200 }, (_, index) =>
      runAction(1 + (index % 20), {}, (action) => sleep(60_000, action.signal)).catch(
        (error: unknown) => error,
      ),
    );
    const reasons = (await Promise.all(ends)).map((end) => (end as { reason?: string }).reason);
    expect(new Set(reasons)).toEqual(new Set(["TIMEOUT"]));
  });

  test("accepts a time-out with a fraction", async () => {
    await expect(runAction(60_000.5, {}, async () => "done")).resolves.toBe("done");
  });
});
