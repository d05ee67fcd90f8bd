import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import type { Clock } from "../../lifecycle/clock.ts";
import type { Database } from "../../store/database.ts";
import type { Log } from "../../telemetry/log.ts";
import type { ChainCalls } from "../calls.ts";
import type { ChainNetwork } from "../network.ts";
import type { LaneDriver } from "./lane-driver.ts";
import { addGasCoin } from "./lane-table.ts";
import { type GasPlan, planGas } from "./plan-gas.ts";
import { type LaneGasOptions, readLaneGas } from "./read-lane-gas.ts";

/** Creates the gas keeper, which distributes the gas owner's coins. Each coin is assigned to one lane. */
export function createGasKeeper(options: GasKeeperOptions): GasKeeper {
  const { database, network, laneIds, clock, log } = options;

  let isShort = false;

  async function assign(): Promise<GasPlan> {
    const plan = planGas(await readLaneGas(options));
    for (const { laneId, coin } of plan.assign) await addGasCoin(database, laneId, coin);
    isShort = plan.short.length > 0;
    return plan;
  }

  return {
    assign,
    isShort: () => isShort,
    loop(drivers) {
      return createBackgroundLoop({ name: "gas keeper", intervalMs: INTERVAL_MS, clock, log, pass });

      async function pass(): Promise<boolean> {
        const { redeem, split, short } = await assign();
        if (short.length > 0) {
          log.error(
            { gasOwner: network.gasOwnerAddress, lanes: short },
            "lanes are low on gas; send SUI to the gas owner",
          );
        }
        const driverOf = (laneId: string) => drivers[laneIds.indexOf(laneId)];
        if (redeem !== undefined) {
          const { laneId, amountMist, paysItself } = redeem;
          const isSent = await driverOf(laneId)?.sendOwn({
            addCalls: (calls) => calls.redeemGas(amountMist),
            ...{ sender: network.gasOwner, gas: paysItself ? "address balance" : "coins" },
          });
          if (!isSent) return false;
          log.info(
            { lane: laneId, amountMist: String(amountMist) },
            "made a coin of the gas owner's address balance",
          );
          return true;
        }
        if (split === undefined) return false;
        const addCalls = (calls: ChainCalls) => calls.splitGas(split.amountsMist);
        if (!(await driverOf(split.laneId)?.sendOwn({ addCalls }))) return false;
        log.info(
          { lane: split.laneId, amountsMist: split.amountsMist.map(String) },
          "distributed gas to other lanes",
        );
        return true;
      }
    },
  };
}

export interface GasKeeperOptions extends LaneGasOptions {
  readonly database: Database;
  readonly network: LaneGasOptions["network"] & Pick<ChainNetwork, "gasOwner">;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "error">;
}

/** Keeps gas in every lane. */
export interface GasKeeper {
  /** Assigns spare coins to the lanes with the least gas, and returns the remaining plan. */
  assign(): Promise<GasPlan>;
  /** True if the last pass found lanes without gas and no coins for them. */
  isShort(): boolean;
  /** The loop that also splits coins and redeems an address balance, through the lane with the most gas. */
  loop(drivers: readonly Pick<LaneDriver, "sendOwn">[]): BackgroundLoop;
}

const INTERVAL_MS = 30_000;
