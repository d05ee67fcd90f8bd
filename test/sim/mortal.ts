import type { Signals } from "../../src/coordination/signals.ts";
import type { Database, Queryable } from "../../src/store/database.ts";

/** What every call of a replica ends with once it was killed: nothing that it asks for happens any more. */
export class Died extends Error {
  override readonly name = "Died";
}

/**
 * A replica's life, counted in steps: each call to the database or the fullnode is one before and one after it, each
 * signal one before it.
 */
export interface Life {
  readonly isOver: boolean;
  /** How many steps it has had. */
  readonly steps: number;
  /** Throws Died from the fatal step on. */
  step(): void;
}

/** A life that ends at its `lastStep`-th step, without a word to anyone but `onDeath`. */
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

/** A call that does not happen when the life ends before it, and whose result nobody learns when it ends after it. */
async function lived<T>(life: Life, call: () => Promise<T>): Promise<T> {
  life.step();
  const result = await call();
  life.step();
  return result;
}

/** The database as a replica sees it. A transaction under way when the replica dies is rolled back, as by PostgreSQL. */
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
    session: (work) => lived(life, () => database.session((db) => work(mortalSql(db)))),
  };
}

/** The way to the fullnode as a replica has it: what was sent arrives, whether or not the sender lives to learn so. */
export function mortalFetch(life: Life, over: typeof fetch = fetch): typeof fetch {
  return (input, init) => lived(life, () => over(input, init));
}

/** Signals as a replica sends and hears them. */
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
