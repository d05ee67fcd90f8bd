import { describe, expect, it } from "vitest";
import { Lifecycle } from "../../../../../src/service/platform/lifecycle/lifecycle.ts";
import { startLoops, startLoopsTogether } from "../../../../../src/service/platform/lifecycle/start-loops.ts";
import { silentLog } from "../../../../support/silent-log.ts";

/** Two loops. The newer one ends when the older one is asked to stop, as if both waited for the same server. */
function linkedLoops() {
  const events: string[] = [];
  const told: object[] = [];
  const log = { ...silentLog, info: () => {}, error: (fields: object) => told.push(fields) };
  const life = new Lifecycle({ log, stopTimeoutMs: 50 });
  let olderStops: () => void = () => {};
  const olderStopped = new Promise<void>((resolve) => {
    olderStops = resolve;
  });
  const older = {
    start: () => void events.push("+older"),
    async stop() {
      olderStops();
      events.push("-older");
    },
  };
  const newer = {
    start: () => void events.push("+newer"),
    async stop() {
      await olderStopped;
      events.push("-newer");
    },
  };
  const loops = [
    { name: "older", loop: older },
    { name: "newer", loop: newer },
  ];
  return { events, told, life, loops };
}

describe("loops", () => {
  it("that begin to stop together do not wait for each other, and each stops once", async () => {
    const { events, told, life, loops } = linkedLoops();
    await startLoopsTogether(life, loops);
    expect(await life.stop()).toBe(true);
    expect(events).toEqual(["+older", "+newer", "-older", "-newer"]);
    expect(told).toEqual([]);
  });

  it("stop one after the other otherwise, the newest first", async () => {
    const { events, told, life, loops } = linkedLoops();
    await startLoops(life, loops);
    expect(await life.stop()).toBe(false);
    expect(told).toMatchObject([{ part: "newer" }]);
    expect(events.slice(0, 3)).toEqual(["+older", "+newer", "-older"]);
  });

  it("that fail to stop are named, and the others stop", async () => {
    const { told, life, loops } = linkedLoops();
    const cause = new Error("broken");
    const bad = { start: () => {}, stop: () => Promise.reject(cause) };
    await startLoopsTogether(life, [...loops, { name: "bad", loop: bad }]);
    expect(await life.stop()).toBe(false);
    expect(told).toEqual([{ part: "bad", cause }]);
  });
});
