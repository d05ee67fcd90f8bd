import { expect, it } from "vitest";
import { createStreamKeeper } from "../../../../../src/service/billing/deposits/checkpoint-stream.ts";
import {
  type CheckpointGains,
  CheckpointsNotServedError,
} from "../../../../../src/service/chain/checkpoint-reader.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";

it("asks for the newest checkpoint when a stream opens, and after 15 seconds of silence whether one is missing", async () => {
  const { keeper, chain, clock } = keeperOf();
  expect(await keeper.check()).toMatchObject({ latest: 100n, heardAtMs: 0 });
  clock.advance(15_000);
  expect(await keeper.check()).toMatchObject({ latest: 100n, heardAtMs: 0 });
  expect(chain.asked).toBe(1);
  clock.advance(1);
  // Nothing is missing, so the stream is complete until now.
  expect(await keeper.check()).toMatchObject({ latest: 100n, heardAtMs: 15_001 });
  expect(chain.asked).toBe(2);
});

it("reopens a stream that lacks a checkpoint for another 15 seconds", async () => {
  const { keeper, chain, clock } = keeperOf();
  await keeper.check();
  chain.latest = 101n;
  clock.advance(15_001);
  expect(await keeper.check()).toMatchObject({ heardAtMs: 0 });
  clock.advance(15_000);
  expect(await keeper.check()).toMatchObject({ heardAtMs: 0 });
  clock.advance(1);
  expect(await keeper.check()).toBeUndefined();
  expect(String(keeper.failure?.cause)).toContain("lacks 101");
  clock.advance(499);
  expect(await keeper.check()).toBeUndefined();
  clock.advance(1);
  expect(await keeper.check()).toMatchObject({ latest: 101n, heardAtMs: 30_502 });
  expect(chain.opened).toBe(2);
});

it("keeps a stream that sends the missing checkpoint late", async () => {
  const { keeper, chain, clock } = keeperOf();
  await keeper.check();
  chain.latest = 101n;
  clock.advance(15_001);
  await keeper.check();
  await chain.send(101n);
  clock.advance(15_001);
  expect(await keeper.check()).toMatchObject({ heardAtMs: 30_002 });
  clock.advance(15_001);
  expect(await keeper.check()).toMatchObject({ heardAtMs: 45_003 });
  expect(chain.opened).toBe(1);
});

it("pauses twice as long after each failure, at most a minute, until a stream has had a message", async () => {
  const { keeper, chain, clock } = keeperOf();
  const pauses: number[] = [];
  const pauseOf = async () => {
    chain.isServed = false;
    await keeper.check();
    await keeper.check();
    const beganMs = clock.now();
    const openedCount = chain.opened;
    while (chain.opened === openedCount) {
      clock.advance(500);
      await keeper.check();
    }
    return clock.now() - beganMs;
  };
  for (let failures = 0; failures < 9; failures++) pauses.push(await pauseOf());
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  chain.isServed = true;
  clock.advance(60_000);
  await keeper.check();
  clock.advance(60_000);
  await keeper.check();
  await chain.send(101n);
  await keeper.check();
  expect(keeper.failure).toBeUndefined();
  await chain.end();
  expect(await pauseOf()).toBe(500);
});

it("tries a fullnode that does not serve the stream again after ten minutes", async () => {
  const { keeper, chain, clock } = keeperOf();
  chain.isServed = false;
  chain.cause = new CheckpointsNotServedError(new Error("unimplemented"));
  await keeper.check();
  await keeper.check();
  expect(keeper.failure?.cause).toBe(chain.cause);
  clock.advance(599_999);
  await keeper.check();
  expect(chain.opened).toBe(1);
  clock.advance(1);
  await keeper.check();
  expect(chain.opened).toBe(2);
});

it("opens a new stream at the next check after it was closed", async () => {
  const { keeper, chain, clock } = keeperOf();
  await keeper.check();
  await keeper.close();
  expect(chain.isOpen).toBe(false);
  await keeper.check();
  expect([chain.opened, chain.isOpen]).toEqual([2, true]);
  // A pause after a failure ends with the close, too.
  await chain.end();
  expect(await keeper.check()).toBeUndefined();
  await keeper.close();
  expect(await keeper.check()).toMatchObject({ latest: 100n, heardAtMs: clock.now() });
});

/** A keeper over a stream that the test controls. */
function keeperOf() {
  const clock = createManualClock();
  let put: (gains: CheckpointGains | undefined) => void = () => {};
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const chain = {
    latest: 100n,
    isServed: true,
    cause: new Error("refused") as Error,
    asked: 0,
    opened: 0,
    isOpen: false,
  };
  const keeper = createStreamKeeper(
    {
      async *subscribe(signal, onOpen) {
        chain.opened++;
        if (!chain.isServed) throw chain.cause;
        chain.isOpen = true;
        onOpen();
        signal.addEventListener("abort", () => put(undefined));
        for (;;) {
          const gains = await new Promise<CheckpointGains | undefined>((resolve) => {
            put = resolve;
          });
          if (gains === undefined) break;
          yield gains;
        }
        chain.isOpen = false;
      },
      read: async () => undefined,
      async latest() {
        chain.asked++;
        return chain.latest;
      },
    },
    clock,
    () => {},
  );
  return {
    keeper,
    clock,
    chain: Object.assign(chain, {
      async send(sequence: bigint) {
        put({ sequence, addresses: [] });
        await settled();
      },
      async end() {
        put(undefined);
        await settled();
      },
    }),
  };
}
