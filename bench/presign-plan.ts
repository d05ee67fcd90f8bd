/**
 * The planner of the presign pool against a fixed low water, over one day of seeded random demand: quiet hours, a busy
 * afternoon, and bursts. `npx tsx bench/presign-plan.ts [--seed 1] [--hours 24]`. Only the planner runs: time is
 * simulated in seconds, and a presign takes 4 to 20 of them.
 */
import { parseArgs } from "node:util";
import { planRefill } from "../src/service/presigns/plan-refill.ts";
import { createRandom, type Random } from "../test/sim/random.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, hours: { type: "string", default: "24" } },
});
const SECONDS = 3_600 * Number(values.hours);
const HIGH_WATER = 100;
/** The windows over which the service counts taken presigns, as in `src/service/presigns/read-demand.ts`. */
const LATELY_SECONDS = 30;
const JUST_NOW_SECONDS = 5;
/** The number of last minting times whose 90 % quantile counts. */
const MINTED_COUNT = 500;

/** The state of the pool, as a policy sees it. */
interface Pool {
  readonly ready: number;
  readonly pending: number;
  readonly waiting: number;
  readonly takenPerSecond: number;
  readonly mintSeconds: number | undefined;
}
type Policy = (pool: Pool) => number;

const fixed =
  (lowWaterCount: number): Policy =>
  ({ ready, pending, waiting }) =>
    Math.min(lowWaterCount + waiting, HIGH_WATER) - ready - pending;
const planned =
  (lowWaterCount: number): Policy =>
  ({ ready, pending, waiting, takenPerSecond, mintSeconds }) =>
    planRefill(
      {
        readyCount: ready,
        pendingCount: pending,
        waitingCount: waiting,
        spoiltCount: 0,
        madeCount: 0,
        takenPerSecond,
        mintSeconds,
      },
      { lowWaterCount, highWaterCount: HIGH_WATER, pendingMaxCount: HIGH_WATER },
    );

const trace = demandOf(createRandom(Number(values.seed)));
const total = trace.reduce((sum, count) => sum + count, 0);
console.log(`${total} signatures in ${values.hours} hours, at most ${Math.max(...trace)} in a second\n`);
console.log("| policy | signatures that waited | longest wait (s) | presigns minted | ready on average |");
console.log("|---|---|---|---|---|");
replay("fixed low water 5", fixed(5));
replay("fixed low water 20", fixed(20));
replay("fixed low water 100", fixed(100));
replay("from demand, low water 5", planned(5));

/** Requested signatures in each second: Poisson around a rate that follows the day, with bursts of a minute. */
function demandOf(random: Random): number[] {
  let burstUntil = 0;
  let burst = 0;
  return Array.from({ length: SECONDS }, (_, second) => {
    const hour = (second / 3_600) % 24;
    const day = 0.05 + 1.5 * Math.max(0, Math.sin(((hour - 8) / 12) * Math.PI));
    if (random.happens(1 / 5_400)) {
      burstUntil = second + 60;
      burst = random.integer(2, 5);
    }
    return poisson(random, day + (second < burstUntil ? burst : 0));
  });
}

function poisson(random: Random, mean: number): number {
  let count = 0;
  for (let left = Math.exp(-mean), product = random.next(); product > left; product *= random.next()) count++;
  return count;
}

function replay(name: string, policy: Policy): void {
  const random = createRandom(7);
  /** The moment at which each pending presign becomes ready. */
  const pending: { readonly readyAt: number; readonly seconds: number }[] = [];
  const waitingSince: number[] = [];
  const minted: number[] = [];
  let [ready, mintedCount, waitedCount, longestWait, readySum] = [5, 0, 0, 0, 0];
  for (let second = 0; second < SECONDS; second++) {
    for (let index = pending.length - 1; index >= 0; index--) {
      if (pending[index]!.readyAt > second) continue;
      minted.push(pending.splice(index, 1)[0]!.seconds);
      if (minted.length > MINTED_COUNT) minted.shift();
      ready++;
    }
    for (let asked = 0; asked < trace[second]!; asked++) waitingSince.push(second);
    while (ready > 0 && waitingSince.length > 0) {
      const wait = second - waitingSince.shift()!;
      ready--;
      if (wait > 0) waitedCount++;
      longestWait = Math.max(longestWait, wait);
    }
    const wanted = policy({
      ready,
      pending: pending.length,
      waiting: waitingSince.length,
      takenPerSecond: Math.max(rate(second, LATELY_SECONDS), rate(second, JUST_NOW_SECONDS)),
      mintSeconds: quantile(minted),
    });
    for (let asked = 0; asked < wanted; asked++) {
      const seconds = random.integer(4, 20);
      pending.push({ readyAt: second + seconds, seconds });
      mintedCount++;
    }
    readySum += ready;
  }
  const average = (readySum / SECONDS).toFixed(1);
  console.log(`| ${name} | ${waitedCount} | ${longestWait} | ${mintedCount} | ${average} |`);
}

function rate(second: number, window: number): number {
  let taken = 0;
  for (let past = Math.max(0, second - window + 1); past <= second; past++) taken += trace[past] ?? 0;
  return taken / window;
}

function quantile(times: readonly number[]): number | undefined {
  return [...times].sort((a, b) => a - b)[Math.floor(0.9 * times.length)];
}
