import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { Database } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import type { ChainCalls } from "../treasury/treasury-calls.ts";
import type { LaneDriver } from "./lane-driver.ts";
import { type GasPlan, type LaneGasOptions, planGas, readLaneGas } from "./lane-gas.ts";
import { addGasCoin } from "./lane-table.ts";

/** Creates the gas keeper, which distributes the gas owner's coins. Each coin is assigned to one lane. */
export function createGasKeeper(options: GasKeeperOptions): GasKeeper {
  const { database, network, laneIds, signals, clock, log } = options;

  let isShort = false;

  async function assign({ db = database, canRedeem = true } = {}): Promise<GasPlan> {
    const funds = await readLaneGas(options);
    const plan = planGas(canRedeem ? funds : { ...funds, addressBalanceMist: 0n });
    for (const { laneId, coin } of plan.assign) await addGasCoin(db, laneId, coin);
    const wasShort = isShort;
    isShort = plan.short.length > 0;
    if (wasShort && !isShort) signals.notify(topics.presignWanted(network.name));
    return plan;
  }

  return {
    assign: (db) => assign({ db }),
    isShort: () => isShort,
    loop(drivers) {
      const driverOf = (laneId: string) => drivers[laneIds.indexOf(laneId)];
      return createBackgroundLoop({ name: "gas keeper", intervalMs: INTERVAL_MS, clock, log, pass });

      async function pass(): Promise<boolean> {
        const plan = await assign();
        if (plan.redeem === undefined) return await distribute(plan);
        try {
          return await redeemBalance(plan.redeem);
        } catch (cause) {
          log.warn(
            { lane: plan.redeem.laneId, cause },
            "could not make a coin of the gas owner's address balance",
          );
          return await distribute(await assign({ canRedeem: false }));
        }
      }

      /** Makes a coin of the address balance. Returns true if the next pass can split it at once. */
      async function redeemBalance(redeem: NonNullable<GasPlan["redeem"]>): Promise<boolean> {
        const { laneId, amountMist, paysItself } = redeem;
        const isSent = await driverOf(laneId)?.sendOwn({
          addCalls: (calls) => calls.redeemGas(amountMist),
          sender: network.gasOwner,
          gas: paysItself ? "address balance" : "coins",
        });
        if (!isSent) return false;
        const made = { lane: laneId, amountMist: String(amountMist) };
        log.info(made, "made a coin of the gas owner's address balance");
        // A fullnode that lags behind still shows the old balance, and no coin tells the two transactions apart.
        return !paysItself;
      }

      async function distribute({ split, short }: GasPlan): Promise<boolean> {
        if (short.length > 0) {
          log.error(
            { gasOwner: network.gasOwnerAddress, lanes: short },
            "lanes are low on gas; send SUI to the gas owner",
          );
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
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps gas in every lane. */
export interface GasKeeper {
  /** Assigns spare coins to the lanes with the least gas, and returns the remaining plan. Default: its database. */
  assign(db?: Database): Promise<GasPlan>;
  /** True if the last pass found lanes without gas and no coins for them. */
  isShort(): boolean;
  /** The loop that also splits coins and redeems an address balance, through the lane with the most gas. */
  loop(drivers: readonly Pick<LaneDriver, "sendOwn">[]): BackgroundLoop;
}

const INTERVAL_MS = 30_000;
