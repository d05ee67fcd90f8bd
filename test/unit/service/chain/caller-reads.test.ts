import { describe, expect, it } from "vitest";
import { createBackOffs } from "../../../../src/service/chain/fullnodes/back-off.ts";
import { createCallerReads } from "../../../../src/service/chain/fullnodes/caller-reads.ts";
import { retryRead } from "../../../../src/service/chain/fullnodes/retry-read.ts";
import { createLocalCoordination } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";

const times = { readMs: 60_000, buildMs: 60_000, executeMs: 60_000 };

function setUp({ projectPerSecond = 1_000, totalPerSecond = 1_000 } = {}) {
  let nowMs = 0;
  const callerReads = createCallerReads({
    network: "localnet",
    limits: { projectPerSecond, totalPerSecond },
    coordination: createLocalCoordination(() => nowMs),
    backOffs: createBackOffs(systemClock),
  });
  let reads = 0;
  const read = (project: string, call: () => Promise<unknown> = async () => undefined) =>
    retryRead({ ...callerReads(project), times, clock: systemClock })(() => {
      reads++;
      return call();
    }).then(
      () => "read",
      (error) => (error.reason === "CHAIN_READS_EXHAUSTED" ? error.metadata.budget : error.reason) as string,
    );
  return {
    read,
    reads: () => reads,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

/** A call that ends when `release` is called. */
function held() {
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { call: () => released, release };
}

describe("reads for calls", () => {
  it("stay within a project's budget and do not use the budgets of others", async () => {
    const { read, reads, pass } = setUp({ projectPerSecond: 5 });
    const outcomes: string[] = [];
    for (let count = 0; count < 300; count++) outcomes.push(await read("hostile"));
    expect(outcomes.filter((one) => one === "read")).toHaveLength(10);
    expect(outcomes.slice(10)).toEqual(Array(290).fill("project"));
    expect(reads()).toBe(10);
    expect(await read("honest")).toBe("read");
    pass(200);
    expect([await read("hostile"), await read("hostile")]).toEqual(["read", "project"]);
  });

  it("of all projects together stay within the callers' budget", async () => {
    const { read, reads } = setUp({ totalPerSecond: 4 });
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, at) => read(`project ${at}`)));
    expect(reads()).toBe(8);
    expect(outcomes.filter((one) => one === "total")).toHaveLength(22);
  });

  it("cost a project nothing if the budget of all projects refuses them", async () => {
    const { read } = setUp({ projectPerSecond: 1, totalPerSecond: 1 });
    expect([await read("others"), await read("others")]).toEqual(["read", "read"]);
    const outcomes: string[] = [];
    for (let count = 0; count < 10; count++) outcomes.push(await read("own"));
    expect(outcomes).toEqual(Array(10).fill("total"));
  });

  it("are bounded per project and in total while the fullnode does not answer", async () => {
    const { read, reads } = setUp();
    const { call, release } = held();
    const first = Array.from({ length: 20 }, () => read("0", call));
    const others = ["1", "2", "3", "4"].flatMap((project) =>
      Array.from({ length: 16 }, () => read(project, call)),
    );
    expect(await Promise.all(first.slice(16))).toEqual(Array(4).fill("project"));
    expect(await Promise.all(others.slice(48))).toEqual(Array(16).fill("total"));
    expect(reads()).toBe(64);
    release();
    await Promise.all([...first, ...others]);
    expect(await read("0")).toBe("read");
  });

  it("count each attempt, and a failed read releases its slot", async () => {
    const { read, reads } = setUp({ projectPerSecond: 20 });
    const fails = () => Promise.reject(new Error("fetch failed"));
    for (let count = 0; count < 20; count++) expect(await read("p", fails)).toBe("CHAIN_UNAVAILABLE");
    expect(reads()).toBe(40);
    expect(await read("p")).toBe("project");
  });
});
