import { expect, it } from "vitest";
import { createGasKeeper } from "../../../../../src/service/chain/submit/gas-keeper.ts";
import type { LaneDriver } from "../../../../../src/service/chain/submit/lane-driver.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const SUI = 1_000_000_000n;

it("the gas keeper distributes coins although the address balance cannot be redeemed", async () => {
  const keeper = startKeeper({ coinsMist: [30n * SUI, 0n], addressBalanceMist: 1n * SUI, refuses: true });
  await keeper.rested();
  expect(keeper.sent).toEqual(["redeem refused", "split"]);
  expect(keeper.warnings).toEqual(["could not make a coin of the gas owner's address balance"]);
  await keeper.stop();
});

it("the gas keeper reports lanes without gas although the address balance cannot be redeemed", async () => {
  const keeper = startKeeper({ coinsMist: [0n, 0n], addressBalanceMist: 1n * SUI, refuses: true });
  await keeper.rested();
  expect(keeper.isShort()).toBe(true);
  await keeper.stop();
});

it("the gas keeper waits after a redemption that no coin pays for, and after no other", async () => {
  const without = startKeeper({ coinsMist: [0n, 0n], addressBalanceMist: 1n * SUI });
  await without.rested();
  expect(without.sent).toEqual(["redeem"]);
  await without.stop();
  const withCoins = startKeeper({
    coinsMist: [30n * SUI, 0n],
    addressBalanceMist: 1n * SUI,
    redeemsOnce: true,
  });
  await withCoins.rested();
  expect(withCoins.sent).toEqual(["redeem", "split"]);
  await withCoins.stop();
});

it("the gas keeper wakes the refill of the pool when lanes without gas get some, and no other time", async () => {
  const keeper = startKeeper({ coinsMist: [0n], addressBalanceMist: 0n });
  await keeper.rested();
  expect(keeper.isShort()).toBe(true);
  expect(keeper.signals).toEqual([]);
  keeper.coins.push({ objectId: "coin-0", version: "1", digest: "d", balanceMist: 30n * SUI });
  await keeper.assign();
  await keeper.assign();
  expect(keeper.signals).toEqual([topics.presignWanted("localnet")]);
  await keeper.stop();
});

it("an assignment on a given database writes there alone", async () => {
  const keeper = startKeeper({ coinsMist: [30n * SUI, 0n], addressBalanceMist: 0n });
  await keeper.rested();
  keeper.coins.push({ objectId: "spare", version: "1", digest: "d", balanceMist: 9n * SUI });
  const guarded = { query: () => Promise.reject(new Error("the mark expired")) } as unknown as Database;
  await expect(keeper.assign(guarded)).rejects.toThrow("the mark expired");
  await keeper.stop();
});

/** Starts a gas keeper of lanes that have one coin each, or none. A lane's driver records what it sends. */
function startKeeper({ coinsMist, addressBalanceMist, refuses = false, redeemsOnce = false }: KeeperCase) {
  const sent: string[] = [];
  const warnings: string[] = [];
  const signals: string[] = [];
  const laneIds = coinsMist.map((_, index) => `lane-${index}`);
  const coins = coinsMist.flatMap((balanceMist, index) =>
    balanceMist === 0n ? [] : [{ objectId: `coin-${index}`, version: "1", digest: "d", balanceMist }],
  );
  let isRedeemed = false;
  const database = {
    query: async () => laneIds.map((laneId, index) => ({ objectId: `coin-${index}`, laneId })),
  } as unknown as Database;
  let rest = (): void => {};
  const rested = new Promise<void>((resolve) => {
    rest = resolve;
  });
  const clock = createManualClock();
  const keeper = createGasKeeper({
    database,
    laneIds,
    signals: { ...createLocalSignals(), notify: (topic) => void signals.push(topic) },
    network: { name: "localnet", gasOwnerAddress: "0x1", gasOwner: undefined },
    reader: {
      gasCoins: async () => coins,
      addressBalance: async () => (isRedeemed && redeemsOnce ? 0n : addressBalanceMist),
    },
    clock: {
      ...clock,
      after(durationMs, call) {
        rest();
        return clock.after(durationMs, call);
      },
    },
    log: {
      ...silentLog,
      info: () => {},
      warn: (_: object, message: string) => warnings.push(message),
      error: () => {},
    },
  });
  const driver: Pick<LaneDriver, "sendOwn"> = {
    async sendOwn({ sender, gas }) {
      const kind = gas === undefined && sender === undefined ? "split" : "redeem";
      if (kind === "redeem" && refuses) {
        sent.push("redeem refused");
        throw new Error("the chain refuses it");
      }
      sent.push(kind);
      if (kind === "split") return false;
      isRedeemed = true;
      return true;
    },
  };
  const loop = keeper.loop(laneIds.map(() => driver));
  loop.start();
  return { ...keeper, coins, signals, sent, warnings, rested: () => rested, stop: () => loop.stop() };
}

interface KeeperCase {
  readonly coinsMist: readonly bigint[];
  readonly addressBalanceMist: bigint;
  /** Whether the chain refuses a redemption. Default false. */
  readonly refuses?: boolean;
  /** Whether the balance is gone after a redemption. Default false, as on a fullnode that lags behind. */
  readonly redeemsOnce?: boolean;
}
