import { describe, expect, test } from "vitest";
import { type Action, runAction } from "../../../../src/client/sdk/action.ts";
import { sleep } from "../../../../src/protocol/chain/poll.ts";

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

  test("that times out says how to go on: with its token, with its idempotency key, or not at all", async () => {
    const messageOf = async (prepare: (action: Action) => Promise<void> | void) => {
      const end = runAction(5, {}, async (action) => {
        await prepare(action);
        await sleep(60_000, action.signal);
      });
      return await end.catch((error: Error) => error.message);
    };
    expect(await messageOf(() => {})).toBe("not finished within 5 ms");
    expect(await messageOf((action) => action.resumeAt("token"))).toMatch(/continues, .* resumeToken$/);
    const keyed = (action: Action) => void Object.assign(action.facts, { idempotencyKey: "key" });
    expect(await messageOf(keyed)).toMatch(/; repeat it with the same idempotencyKey$/);
  });

  test("accepts a time-out with a fraction", async () => {
    await expect(runAction(60_000.5, {}, async () => "done")).resolves.toBe("done");
  });
});
