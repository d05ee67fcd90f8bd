import { AsyncResource } from "node:async_hooks";
import { isDatabaseUnavailable } from "../errors/error-mapping.ts";
import { ServiceError } from "../errors/service-error.ts";
import { createFairQueue } from "../threads/fair-queue.ts";
import type { Queryable } from "./database.ts";

/**
 * Returns a function that shares statements between calls. Calls on the same database share one if they arrive within
 * one turn of the event loop, or while an earlier statement runs. One statement runs at a time, in the trace of its first
 * call. Subjects take turns, and the calls of a subject keep their order. After five seconds, the next statement no
 * longer waits for a running one, which may have lost its connection. A kind with lines runs one statement of each line
 * at a time, so a statement that waits for a lock delays no other line.
 *
 * If a statement of several calls fails, each call runs alone, so a bad call does not fail its neighbours. If the database
 * does not answer, all of them fail, because the statement may have been committed. Rejects with DATABASE_UNAVAILABLE if
 * too many calls wait, and with the reason of the call's signal if that has fired before its statement begins.
 *
 * @example
 * const readName = batchStatements<string, string | undefined>({
 *   subjectOf: (id) => id,
 *   async run(db, ids) {
 *     const rows = await readRows(db, sql`SELECT id, name FROM project WHERE id = ANY(${ids}::uuid[])`, NAMES);
 *     const names = new Map(rows.map(({ id, name }) => [id, name]));
 *     return ids.map((id) => names.get(id));
 *   },
 * });
 * const name = await readName(database, id);
 */
export function batchStatements<Item, Result>(
  kind: StatementKind<Item, Result>,
): (db: Queryable, item: Item) => Promise<Result> {
  const { lineOf = () => "" } = kind;
  const linesOf = new WeakMap<Queryable, Map<string, (item: Item) => Promise<Result>>>();
  return (db, item) => {
    const lines = linesOf.get(db) ?? new Map<string, (item: Item) => Promise<Result>>();
    linesOf.set(db, lines);
    const name = lineOf(item);
    const line =
      lines.get(name) ??
      batchCalls({ ...kind, run: (items) => kind.run(db, items), onIdle: () => lines.delete(name) });
    lines.set(name, line);
    return line(item);
  };
}

/** A statement that several calls can share. */
export interface StatementKind<Item, Result> extends Omit<CallKind<Item, Result>, "run" | "onIdle"> {
  /** Runs one statement for at least one item. Returns the result of each item, in their order. */
  run(db: Queryable, items: readonly Item[]): Promise<readonly (Result | typeof ALONE)[]>;
  /** The line of an item. Items of different lines share no statement. Default: one line for all. */
  lineOf?(item: Item): string;
}

/** The result of an item that the statement left as it was. The item then runs alone, after the statement. */
export const ALONE: unique symbol = Symbol("alone");

/** Work that several calls can share. */
export interface CallKind<Item, Result> {
  /** Runs one statement for at least one item. Returns the result of each item, in their order. */
  run(items: readonly Item[]): Promise<readonly (Result | typeof ALONE)[]>;
  /** The owner of an item, such as a project. */
  subjectOf(item: Item): string;
  /** The signal that fires when the caller of an item has left. Default: no caller leaves. */
  signalOf?(item: Item): AbortSignal | undefined;
  /** The maximum number of items in one statement. Default 256. */
  readonly batchMaxCount?: number;
  /** The maximum number of waiting calls. Beyond it, the newest call of the subject with the most calls fails. Default 1,000. */
  readonly waitingMaxCount?: number;
  /** Called when no call waits any more and the last statement has ended or stalled. Default: nothing. */
  readonly onIdle?: () => void;
}

const BATCH_MAX_COUNT = 256;
const WAITING_MAX_COUNT = 1_000;
/** After this time, a statement holds up no other. */
const STALLED_MS = 5_000;

interface Call<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
  /** Runs work in the trace of the call. */
  within(work: () => Promise<void>): Promise<void>;
}

/**
 * Does the same as {@link batchStatements} for work that knows its database.
 *
 * @example
 * const readName = batchCalls<string, string>({ subjectOf: (id) => id, run: (ids) => readNames(ids) });
 * const name = await readName(id);
 */
export function batchCalls<Item, Result>({
  run,
  subjectOf,
  signalOf = () => undefined,
  batchMaxCount = BATCH_MAX_COUNT,
  waitingMaxCount = WAITING_MAX_COUNT,
  onIdle,
}: CallKind<Item, Result>): (item: Item) => Promise<Result> {
  const waiting = createFairQueue<Call<Item, Result>>({
    maxCount: waitingMaxCount,
    subjectMaxCount: waitingMaxCount,
  });
  let isRunning = false;
  return (item) =>
    new Promise((resolve, reject) => {
      const within = AsyncResource.bind((work: () => Promise<void>) => work());
      const dropped = waiting.push(subjectOf(item), { item, resolve, reject, within });
      dropped?.reject(tooMany());
      if (isRunning) return;
      isRunning = true;
      setImmediate(() => void serve());
    });

  async function serve(): Promise<void> {
    for (let calls = next(); calls.length > 0; calls = next()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, STALLED_MS);
        void runTogether(calls).finally(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    isRunning = false;
    onIdle?.();
  }

  function next(): Call<Item, Result>[] {
    const calls: Call<Item, Result>[] = [];
    while (calls.length < batchMaxCount) {
      const call = waiting.shift();
      if (call === undefined) break;
      calls.push(call);
    }
    return calls;
  }

  /** Returns whether the call's caller still waits. Otherwise rejects the call. */
  function isAwaited({ item, reject }: Call<Item, Result>): boolean {
    const signal = signalOf(item);
    if (signal?.aborted !== true) return true;
    reject(signal.reason);
    return false;
  }

  async function runTogether(all: readonly Call<Item, Result>[]): Promise<void> {
    const calls = all.filter(isAwaited);
    await calls[0]?.within(async () => {
      try {
        const results = await run(calls.map(({ item }) => item));
        if (results.length !== calls.length) throw new Error("the statement did not answer each call");
        const left: Call<Item, Result>[] = [];
        for (const [index, call] of calls.entries()) {
          const result = results[index] as Result | typeof ALONE;
          if (result !== ALONE) call.resolve(result);
          else if (calls.length > 1) left.push(call);
          else throw new Error("the statement left its only call");
        }
        for (const call of left) await runTogether([call]);
      } catch (reason) {
        if (calls.length === 1 || isDatabaseUnavailable(reason))
          for (const { reject } of calls) reject(reason);
        else for (const call of calls) await runTogether([call]);
      }
    });
  }
}

function tooMany(): ServiceError {
  return new ServiceError("DATABASE_UNAVAILABLE", "too many calls are waiting for the database");
}
