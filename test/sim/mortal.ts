import type { Signals } from "../../src/service/platform/coordination/signals.ts";
import type { Database, Queryable } from "../../src/service/platform/store/database.ts";

/** Thrown by every call of a killed replica. None of its calls has an effect afterwards. */
export class Died extends Error {
  override readonly name = "Died";
}

/**
 * A replica's life, counted in steps: one before and one after each call to the database or the fullnode, and one
 * before each signal.
 */
export interface Life {
  readonly isOver: boolean;
  /** The number of steps so far. */
  readonly steps: number;
  /** Throws Died from the fatal step on. */
  step(): void;
}

/** Creates a life that ends at its `lastStep`-th step, and then calls `onDeath`. */
export function createLife(lastStep: number, onDeath: () => void): Life {
  let steps = 0;
  let isOver = false;
  return {
    get isOver() {
      return isOver;
    },
    get steps() {
      return steps;
    },
    step() {
      if (!isOver) steps++;
      if (!isOver && steps >= lastStep) {
        isOver = true;
        onDeath();
      }
      if (isOver) throw new Died("the replica was killed");
    },
  };
}

/** Runs a call. It does not run if the life ends before it, and its result is lost if the life ends after it. */
async function lived<T>(life: Life, call: () => Promise<T>): Promise<T> {
  life.step();
  const result = await call();
  life.step();
  return result;
}

/** The database of a replica. An open transaction is rolled back when the replica dies, as PostgreSQL does. */
export function mortalDatabase(database: Database, life: Life): Database {
  const mortalSql = (db: Queryable): Queryable => ({
    query: (statement, parameters) => lived(life, () => db.query(statement, parameters)),
  });
  return {
    ...database,
    ...mortalSql(database),
    prisma: database.prisma.$extends({
      query: { $allOperations: ({ args, query }) => lived(life, () => query(args)) },
    }) as unknown as Database["prisma"],
    transaction: (work) => lived(life, () => database.transaction((db) => work(mortalSql(db)))),
  };
}

/** A replica's fetch to the fullnode. A sent request arrives even if the sender dies before the reply. */
export function mortalFetch(life: Life, over: typeof fetch = fetch): typeof fetch {
  return (input, init) => lived(life, () => over(input, init));
}

/** The signals of a replica. */
export function mortalSignals(signals: Signals, life: Life): Signals {
  return {
    ...signals,
    notify(topic) {
      try {
        life.step();
      } catch {
        return;
      }
      signals.notify(topic);
    },
  };
}
