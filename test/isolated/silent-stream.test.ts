/** Replaces undici's agent, to see its options: its timer for a silent body fires after minutes. */
import { expect, it, vi } from "vitest";
import { createNetworkFetch } from "../../src/service/chain/fullnodes/network-fetch.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";

const made = vi.hoisted((): unknown[] => []);
vi.mock("undici", async (load) => {
  const undici = await load<typeof import("undici")>();
  class Agent extends undici.Agent {
    constructor(options?: ConstructorParameters<typeof undici.Agent>[0]) {
      super(options);
      made.push(options);
    }
  }
  return { ...undici, Agent };
});

it("a stream of checkpoints may be silent for as long as the chain has no transactions", async () => {
  await createNetworkFetch({ clock: systemClock }).close();
  expect(made).toEqual([expect.objectContaining({ bodyTimeout: 0 })]);
});
