import { setImmediate as turn } from "node:timers/promises";
import { type Clock, pause } from "../../src/service/platform/lifecycle/clock.ts";
import { createManualClock } from "../support/manual-clock.ts";
import type { Random } from "./random.ts";
import { createStatements, type StatementServer, type Statements } from "./statements.ts";

/** Decides the order of events. Nothing in a simulation depends on the machine's speed. */
export interface Scheduler {
  /** The simulation's clock. Time passes only while nothing can run. */
  readonly clock: Clock;
  /** The number of fired timers. */
  readonly steps: number;
  /** Runs a statement of a session in its turn, and delivers its result later. */
  statement<T>(pid: number, text: string, run: () => Promise<T>): Promise<T>;
  /** Runs the simulation until `main` ends. Throws {@link StuckError} if it would never end. */
  drive<T>(main: Promise<T>): Promise<T>;
}

/** Thrown for a simulation that does not end. */
export class StuckError extends Error {
  override readonly name = "StuckError";
}

/** Options of {@link createScheduler}. */
export interface SchedulerOptions {
  readonly random: Random;
  /** The maximum number of timers. */
  readonly stepMaxCount: number;
  readonly server: StatementServer;
  /** Called when a session's statement begins, and when its session gets the result. */
  readonly onEvent?: (event: SchedulerEvent) => void;
}

/** One event of a simulation. */
export interface SchedulerEvent {
  readonly ms: number;
  /** The session, numbered from 0 in the order of the first statements. */
  readonly session: number;
  readonly what: "begins" | "ends" | "fails";
  readonly text: string;
}

/** The number of idle turns of the event loop before the next step. Work in this process takes at most two. */
const QUIET_TURNS = 3;

/**
 * Runs one event at a time. The scheduler calls the next timer (any of those of the same moment), lets this process
 * finish everything that follows, and lets the database execute a due statement before the next timer. A run therefore
 * follows from its seed, except for choices of the database itself: see {@link createStatements}.
 */
export function createScheduler(options: SchedulerOptions): Scheduler {
  const { random, stepMaxCount, onEvent = () => {} } = options;
  const timers = createManualClock((count) => random.integer(0, count - 1));
  const clock: Clock = {
    now: timers.now,
    wallMs: timers.wallMs,
    after: (durationMs, call) => timers.after(Math.ceil(durationMs / GRID_MS) * GRID_MS, call),
  };
  const statements: Statements = createStatements(options.server);
  const sessions = new Map<number, number>();
  let steps = 0;
  return {
    clock,
    get steps() {
      return steps;
    },
    async statement(pid, text, run) {
      const tell = (what: SchedulerEvent["what"]) =>
        onEvent({ ms: clock.now(), session: sessionOf(pid), what, text });
      await pause(clock, statementMs(random));
      tell("begins");
      try {
        const result = await statements.run(pid, ASKS_TIME.test(text) ? clock.now() : undefined, run);
        tell("ends");
        return result;
      } catch (error) {
        tell("fails");
        throw error;
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

  function sessionOf(pid: number): number {
    const session = sessions.get(pid) ?? sessions.size;
    sessions.set(pid, session);
    return session;
  }

  async function step(): Promise<void> {
    if (++steps > stepMaxCount) throw new StuckError(`more than ${stepMaxCount} steps`);
    if (timers.callNext()) return;
    if (statements.blockedCount === 0) throw new StuckError("nothing can continue");
    // PostgreSQL ends one of several deadlocked statements.
    await statements.untilOneEnds();
  }
}

/**
 * The resolution of time. Events within one step are simultaneous, and the seed decides their order, so that few
 * moments have many possible orders and the database's time rarely changes.
 */
const GRID_MS = 10;
/** A statement that reads the time, directly or through a column's default. */
const ASKS_TIME = /now\(\)|_timestamp\(\)|\binsert\b/i;
/** The share of delayed replies to executed statements, and their maximum delay. */
const SLOW_REPLIES = 0.005;
const SLOW_REPLY_MS = 300;

/** The delay of a statement: mostly none, sometimes so long that a lease expires. */
function statementMs(random: Random): number {
  if (random.happens(0.005)) return random.integer(10, 1_000);
  return random.happens(0.9) ? 0 : GRID_MS;
}

async function quiet(): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; turns++) await turn();
}
