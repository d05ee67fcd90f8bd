import { describe, expect, it } from "vitest";
import { pause } from "../../src/service/platform/lifecycle/clock.ts";
import { createRandom } from "./random.ts";
import { createScheduler, StuckError } from "./scheduler.ts";

const server = { setTime: async () => {}, blockedPids: async () => new Set<number>() };
const scheduler = (seed: number, statements = server) =>
  createScheduler({ random: createRandom(seed), stepMaxCount: 1_000, server: statements });

describe("a simulation", () => {
  it("passes an hour without waiting, and no time while work is left", async () => {
    const { clock, drive, statement } = scheduler(1);
    const seen = await drive(
      (async () => {
        await pause(clock, 3_600_000);
        const beganMs = clock.now();
        // This takes longer than a due timer of this process.
        await statement(1, "", () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))));
        return [beganMs, clock.now() - beganMs < 2_000];
      })(),
    );
    expect(seen).toEqual([3_600_000, true]);
  });

  it("has the same order of events for the same seed, and another order for another seed", async () => {
    const orderOf = async (seed: number): Promise<string> => {
      const { clock, drive, statement } = scheduler(seed);
      const order: number[] = [];
      const one = async (id: number) => {
        await pause(clock, 100);
        await statement(id, "", async () => order.push(id));
      };
      await drive(Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(one)));
      return order.join();
    };
    expect(await orderOf(1)).toBe(await orderOf(1));
    expect(await orderOf(1)).not.toBe(await orderOf(2));
  });

  it("continues with other statements while one waits for a lock", async () => {
    let giveUp: () => void = () => {};
    const lock = new Promise<void>((resolve) => {
      giveUp = resolve;
    });
    let isHeld = true;
    const waiting = { ...server, blockedPids: async () => new Set(isHeld ? [1] : []) };
    const { clock, drive, statement } = scheduler(1, waiting);
    const order: string[] = [];
    const first = statement(1, "", () => lock).then(() => order.push("waited"));
    const second = pause(clock, 5_000)
      .then(() => statement(2, "", async () => order.push("gave up")))
      .then(() => {
        isHeld = false;
        giveUp();
      });
    await drive(Promise.all([first, second]));
    expect(order).toEqual(["gave up", "waited"]);
  });

  it("ends as stuck when nothing can continue, or after too many steps", async () => {
    await expect(scheduler(1).drive(new Promise(() => {}))).rejects.toThrow(StuckError);
    const { clock, drive } = scheduler(1);
    const forEver = async (): Promise<never> => {
      for (;;) await pause(clock, 10);
    };
    await expect(drive(forEver())).rejects.toThrow("more than 1000 steps");
  });
});
