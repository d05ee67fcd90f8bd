import { expect, it } from "vitest";
import { createHealth } from "../../../src/watchtower/health.ts";
import { createManualClock } from "../../support/manual-clock.ts";

it("is bad before the first round, and a minute after the last one that was not far behind", () => {
  const clock = createManualClock();
  const health = createHealth({ expectsProgress: false, clock });
  expect(health.isHealthy()).toBe(false);
  health.note({ lag: 500n, newest: 1_000n });
  expect(health.isHealthy()).toBe(false);
  health.note({ lag: 499n, newest: 1_000n });
  clock.advance(59_999);
  expect(health.isHealthy()).toBe(true);
  health.note({ lag: 500n, newest: 1_001n });
  clock.advance(1);
  expect(health.isHealthy()).toBe(false);
});

it("is bad if a public chain makes no checkpoint for a minute, which a fullnode that stands still claims", () => {
  const clock = createManualClock();
  const [open, local] = [true, false].map((expectsProgress) => createHealth({ expectsProgress, clock }));
  const note = () => {
    for (const health of [open!, local!]) health.note({ lag: 0n, newest: 7n });
  };
  note();
  clock.advance(60_000);
  note();
  expect([open!.isHealthy(), local!.isHealthy()]).toEqual([false, true]);
  open!.note({ lag: 0n, newest: 8n });
  expect(open!.isHealthy()).toBe(true);
});
