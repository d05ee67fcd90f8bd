/** How far a round reads, and what it does with a fullnode whose index of events is behind. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type FullnodeEvents, TooManyEventsError } from "../../../src/watchtower/fullnode-events.ts";
import { createWatch, type WatchOptions } from "../../../src/watchtower/watch-round.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tss-tower-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const never = new AbortController().signal;

/** The exit of a dWallet in a checkpoint: `custody::DWalletLeft` has five addresses. */
const exitAt = (checkpoint: bigint) => ({
  ...{
    eventType: "0x1::custody::DWalletLeft",
    transactionDigest: `tx${checkpoint}`,
    eventIndex: 0,
    checkpoint,
  },
  contents: { value: new Uint8Array(160).fill(1) },
});
type Event = ReturnType<typeof exitAt>;

/** `custody::SuccessorAnnounced` has two addresses and an epoch. */
const successorAt = (checkpoint: bigint): Event => ({
  ...exitAt(checkpoint),
  eventType: "0x1::custody::SuccessorAnnounced",
  contents: {
    value: Uint8Array.of(...new Array(32).fill(7), ...new Array(32).fill(8), 20, 0, 0, 0, 0, 0, 0, 0),
  },
});

/** A fullnode with checkpoints up to 9, and with events as far as it has indexed them. */
function fullnodeOf(host: string, events: readonly Event[], indexed: () => bigint): FullnodeEvents {
  return {
    host,
    position: async () => ({ chainId: "chain", latest: 9n, lowest: 0n }),
    treasuryPackage: async () => "0x1",
    async events({ from, to }) {
      const [covered = to] = [indexed(), to].toSorted((a, b) => (a < b ? -1 : 1));
      return {
        events: events.filter(({ checkpoint }) => checkpoint >= from && checkpoint <= covered),
        covered,
      };
    },
  };
}

function watchOf(fullnodes: readonly FullnodeEvents[], change: Partial<WatchOptions> = {}) {
  return createWatch({
    ...{
      fullnodes,
      types: [],
      logs: [],
      stateFile: path.join(folder, "state"),
      graceMs: 0,
      keepsAlerts: false,
    },
    onTold() {},
    state: {
      ...{ version: 1, chainId: "chain", next: "0", logs: {}, expected: [], pending: [], untold: [] },
    },
    isWatched: () => true,
    nowMs: () => 0,
    ...change,
  });
}

it("waits for the events of checkpoints that a fullnode has and has not indexed yet", async () => {
  const events = [exitAt(3n), exitAt(7n)];
  let indexed = 4n;
  const slow = fullnodeOf("slow", events, () => indexed);
  const { round } = watchOf([slow, fullnodeOf("quick", events, () => 9n)]);
  const first = await round(never);
  expect(first.told.map(({ kind, data }) => [kind, data["checkpoint"]])).toEqual([["watchtower.left", "3"]]);
  expect(first).toMatchObject({ lag: 5n, hasMore: false, disagreedCount: 0 });
  expect(await round(never)).toMatchObject({ told: [], lag: 5n, hasMore: false });
  indexed = 9n;
  const last = await round(never);
  expect(last.told.map(({ data }) => data["checkpoint"])).toEqual(["7"]);
  expect(last).toMatchObject({ lag: 0n, disagreedCount: 0 });
});

it("reads half as far after too many events, and not at once as far as before", async () => {
  const spans: bigint[] = [];
  const busy: FullnodeEvents = {
    ...fullnodeOf("busy", [], () => 9_999n),
    position: async () => ({ chainId: "chain", latest: 9_999n, lowest: 0n }),
    async events({ from, to }) {
      spans.push(to - from + 1n);
      if (to - from >= 250n) throw new TooManyEventsError();
      return { events: [], covered: to };
    },
  };
  const { round } = watchOf([busy]);
  for (let count = 0; count < 5; count++) await round(never).catch(() => {});
  expect(spans).toEqual([1_000n, 500n, 250n, 500n, 250n]);
});

it("tells before it forgets: again after a round whose state was not written", async () => {
  const heard: string[] = [];
  const stateFile = path.join(folder, "missing", "state");
  const onTold: WatchOptions["onTold"] = (alerts) => heard.push(...alerts.map(({ id }) => id));
  const { round } = watchOf([fullnodeOf("one", [exitAt(3n)], () => 9n)], { stateFile, onTold });
  await expect(round(never)).rejects.toThrow("ENOENT");
  expect(heard).toHaveLength(1);
  mkdirSync(path.dirname(stateFile));
  await round(never);
  await round(never);
  expect(heard).toEqual([heard[0], heard[0]]);
});

it("tells of a successor of the Treasury, which concerns every dWallet, and of no exit of another's dWallet", async () => {
  const events = [exitAt(3n), successorAt(4n)];
  const isWatched = (id: string) => id === `0x${"02".repeat(32)}`;
  const { told, seenCount } = await watchOf([fullnodeOf("one", events, () => 9n)], { isWatched }).round(
    never,
  );
  expect(seenCount).toBe(1);
  const treasury = `0x${"07".repeat(32)}`;
  expect(told).toMatchObject([{ kind: "watchtower.successor_announced", subject: treasury }]);
  expect(told[0]?.data).toEqual({
    treasury_id: treasury,
    successor: `0x${"08".repeat(32)}`,
    from_epoch: "20",
    tx_digest: "tx4",
    checkpoint: "4",
  });
});
