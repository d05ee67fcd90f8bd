import { setImmediate as turn } from "node:timers/promises";
import { type Clock, pause } from "../../src/lifecycle/clock.ts";
import { createManualClock } from "../support/manual-clock.ts";
import type { Random } from "./random.ts";
import { createStatements, type StatementServer, type Statements } from "./statements.ts";

/** Decides when what happens. Nothing in a simulation depends on how fast the machine is. */
export interface Scheduler {
  /** The simulation's time: it passes only while nothing can be done. */
  readonly clock: Clock;
  /** Timers that have been called. */
  readonly steps: number;
  /** Runs a statement of a session when its turn has come, and hands its result over some time later. */
  statement<T>(pid: number, text: string, run: () => Promise<T>): Promise<T>;
  /** Lets the simulation go on until `main` ends. Throws {@link StuckError} when it never would. */
  drive<T>(main: Promise<T>): Promise<T>;
}

/** A simulation that does not end. */
export class StuckError extends Error {
  override readonly name = "StuckError";
}

/** What a scheduler needs. */
export interface SchedulerOptions {
  readonly random: Random;
  /** So many timers a simulation may take. */
  readonly stepMaxCount: number;
  readonly server: StatementServer;
}

/** Turns of the event loop in which nothing may happen any more: work in this process takes two at the most. */
const QUIET_TURNS = 3;

/**
 * One event at a time: the next timer is called, of those of one moment any, everything that follows from it in this process runs to its end, and
 * a statement that came due is carried out by the database, before the next timer is called. So a run follows from its
 * seed, but for what the database itself leaves open: see {@link createStatements}.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { random, stepMaxCount } = options;
  const timers = createManualClock((count) => random.integer(0, count - 1));
  const clock: Clock = {
    now: timers.now,
    after: (durationMs, call) => timers.after(Math.ceil(durationMs / GRID_MS) * GRID_MS, call),
  };
  const statements: Statements = createStatements(options.server);
  let steps = 0;
  return {
    clock,
    get steps() {
      return steps;
    },
    async statement(pid, text, run) {
      await pause(clock, statementMs(random));
      try {
        return await statements.run(pid, ASKS_TIME.test(text) ? clock.now() : undefined, run);
      } finally {
        if (random.happens(SLOW_REPLIES)) await pause(clock, random.integer(1, SLOW_REPLY_MS));
      }
    },
    async drive(main) {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      main.then(end, end);
      for (;;) {
        await quiet();
        if (statements.isBusy) await statements.settle();
        else if (isOver) return main;
        else await step();
      }
    },
  };

  async function step(): Promise<void> {
    if (++steps > stepMaxCount) throw new StuckError(`more than ${stepMaxCount} steps`);
    if (timers.callNext()) return;
    if (statements.blockedCount === 0) throw new StuckError("nothing can go on any more");
    // PostgreSQL ends one of several statements that wait for each other.
    await statements.untilOneEnds();
  }
}

/**
 * Time passes in strides. What comes due within one happens at one moment, in an order that follows from the seed, so
 * that few moments have many orders, and the database is rarely told what time it is.
 */
const GRID_MS = 10;
/** A statement that asks what time it is, itself or by a column's default. */
const ASKS_TIME = /now\(\)|_timestamp\(\)|\binsert\b/i;
/** How often a reply is on its way for long after the statement was carried out, and how long at most. */
const SLOW_REPLIES = 0.005;
const SLOW_REPLY_MS = 300;

/** Mostly at once; now and then so late that a lease lapses meanwhile. */
function statementMs(random: Random): number {
  if (random.happens(0.005)) return random.integer(10, 1_000);
  return random.happens(0.9) ? 0 : GRID_MS;
}

async function quiet(): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; turns++) await turn();
}
