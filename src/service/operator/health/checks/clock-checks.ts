import sql from "sql-template-tag";
import { networkTraits } from "../../../../protocol/chain/network-traits.ts";
import { number } from "../../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../../platform/store/database.ts";
import { readCheckpointMs } from "../../metrics/chain-figures.ts";
import { answering } from "./chain-checks.ts";
import {
  type HealthCheck,
  type HealthSubject,
  type NetworkSubject,
  NotChecked,
  needed,
  reachable,
} from "./health-check.ts";

/** Returns the check of this machine's clock against the clock of the database. */
export function databaseClockChecks(subject: Pick<HealthSubject, "database">): HealthCheck[] {
  return [
    {
      name: "clock and database",
      advice: "check that the database responds, then run the doctor again",
      async look() {
        const skewMs = await databaseSkewMs(await reachable(subject));
        const found = `${seconds(Math.abs(skewMs))} apart`;
        if (Math.abs(skewMs) <= SKEW_MAX_MS) return { status: "ok", found };
        return { status: "fail", found, advice: SYNCHRONISE };
      },
    },
  ];
}

/** Returns the check of this machine's clock against the clock of a chain. */
export function chainClockChecks({ chain }: Pick<NetworkSubject, "chain">): HealthCheck[] {
  return [
    {
      name: "clock and chain",
      advice: "check that the fullnode responds, then run the doctor again",
      async look() {
        await answering(chain);
        const network = await needed(chain.network(), "Ika or the Treasury was not found, see above");
        const behindMs = Date.now() - (await readCheckpointMs(network));
        if (behindMs < -SKEW_MAX_MS) {
          const found = `the chain is ${seconds(-behindMs)} ahead of this machine`;
          return { status: "fail", found, advice: SYNCHRONISE };
        }
        const found = `newest checkpoint ${seconds(Math.max(0, behindMs))} old`;
        const { hasIdleCheckpoints } = networkTraits(network.name);
        if (behindMs <= CHECKPOINT_AGE_MAX_MS || !hasIdleCheckpoints) return { status: "ok", found };
        const advice = "use a fullnode that keeps up with the network, or set this machine's clock back";
        return { status: "warn", found, advice };
      },
    },
  ];
}

/** Keys and reservations expire by these clocks. A smaller difference goes unnoticed. */
const SKEW_MAX_MS = 2_000;
/** A fullnode that lags by more than this reports signatures late. */
const CHECKPOINT_AGE_MAX_MS = 60_000;

const SYNCHRONISE = "synchronise the clocks of this machine and the other one with NTP";

/** Returns how far this machine's clock is ahead, compared at the middle of the call. */
async function databaseSkewMs(db: Queryable): Promise<number> {
  const beganMs = Date.now();
  const [row] = await readRows(db, sql`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`, {
    ms: number,
  });
  if (row === undefined) throw new NotChecked("the database did not return its time");
  return (beganMs + Date.now()) / 2 - row.ms;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
