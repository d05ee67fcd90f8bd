/** One contract for every implementation of the signals. */
import { afterEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../../src/coordination/local-signals.ts";
import { createRedisSignals } from "../../../src/coordination/redis-signals.ts";
import type { Signals } from "../../../src/coordination/signals.ts";
import { testRedis } from "../../support/redis.ts";

const redisUrl = await testRedis();
const silent = { warn() {} };
const open: Signals[] = [];
const opened = <T extends Signals>(signals: T): T => {
  open.push(signals);
  return signals;
};
const prefix = () => `tss-test-${crypto.randomUUID()}:`;
const redis = (name: string) => opened(createRedisSignals({ url: redisUrl!, log: silent, prefix: name }));

afterEach(async () => {
  await Promise.all(open.splice(0).map((signals) => signals.close()));
});

describe.each([
  { name: "in one process", make: () => opened(createLocalSignals()), missing: false },
  { name: "over Redis", make: () => redis(prefix()), missing: redisUrl === undefined },
])("signals $name", ({ make, missing }) => {
  describe.skipIf(missing)("", () => {
    it("wake every listener of the topic and no other", async () => {
      const signals = make();
      const heard: string[] = [];
      signals.subscribe("b", () => heard.push("other"));
      const both = ["first", "second"].map(
        (name) =>
          new Promise<void>((resolve) => {
            signals.subscribe("a", () => {
              heard.push(name);
              resolve();
            });
          }),
      );
      signals.notify("a");
      await Promise.all(both);
      expect(heard).toEqual(["first", "second"]);
    });

    it("do not call a listener inside notify, nor after it left", async () => {
      const signals = make();
      let count = 0;
      const leave = signals.subscribe("a", () => count++);
      signals.notify("a");
      expect(count).toBe(0);
      leave();
      await heardOnce(signals, "a");
      expect(count).toBe(0);
    });

    it("survive a listener that throws", async () => {
      const signals = make();
      signals.subscribe("a", () => {
        throw new Error("a listener's own trouble");
      });
      await heardOnce(signals, "a");
    });

    it("are silent once closed", async () => {
      const signals = make();
      let count = 0;
      signals.subscribe("a", () => count++);
      await signals.close();
      signals.notify("a");
      await new Promise((resolve) => setImmediate(resolve));
      expect(count).toBe(0);
    });
  });
});

describe.skipIf(redisUrl === undefined)("signals of two processes", () => {
  it("reach the other one, and their own listeners once", async () => {
    const name = prefix();
    const [one, other] = [redis(name), redis(name)];
    await Promise.all([one.ready(), other.ready()]);
    let ownCount = 0;
    one.subscribe("a", () => ownCount++);
    const arrived = new Promise<void>((resolve) => {
      other.subscribe("a", resolve);
    });
    one.notify("a");
    await arrived;
    // What the other one sends back comes behind whatever Redis would have echoed.
    const answered = new Promise<void>((resolve) => {
      one.subscribe("b", resolve);
    });
    other.notify("b");
    await answered;
    expect(ownCount).toBe(1);
  });
});

describe("signals over a Redis that is not there", () => {
  it("still wake their own process, never throw, and say so once", async () => {
    const warnings: string[] = [];
    let warn: () => void = () => {};
    const warned = new Promise<void>((resolve) => {
      warn = resolve;
    });
    const signals = opened(
      createRedisSignals({
        url: "redis://127.0.0.1:1",
        log: {
          warn: (_fields, message) => {
            warnings.push(message);
            warn();
          },
        },
      }),
    );
    await heardOnce(signals, "a");
    await warned;
    expect(warnings).toHaveLength(1);
  });
});

async function heardOnce(signals: Signals, topic: string): Promise<void> {
  const heard = new Promise<void>((resolve) => {
    signals.subscribe(topic, resolve);
  });
  signals.notify(topic);
  await heard;
}
