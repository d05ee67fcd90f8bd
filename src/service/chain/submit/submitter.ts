import { idleRestMs, type Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { Database } from "../../platform/store/database.ts";
import { NO_TRACER, type Tracer } from "../../platform/telemetry/tracer.ts";
import type { OperationKind, OperationName } from "../operation.ts";
import type { NetworkReader } from "../reader.ts";
import type { OperatorCause } from "./classify.ts";
import type { Lane } from "./lane.ts";
import { createLaneDriver, type LaneDriver } from "./lane-driver.ts";
import { createLaneTurns, type LaneTurns } from "./lane-turns.ts";
import type { QueuedOperation } from "./outbox.ts";
import { createRefusalHandler } from "./refuse-operations.ts";
import { createTransactionSettler, type SubmitterLog } from "./settle-transaction.ts";
import { traceLane } from "./trace-operations.ts";

/**
 * Creates the submitter. Any number of processes may drive the same lanes: one process holds a lane at a time, and one
 * lane at a time holds an operation.
 */
export function createSubmitter(options: SubmitterOptions): Submitter {
  const { database, network, signals, clock, log, tracer = NO_TRACER, intervalMs, leaseMs } = options;
  const kinds = new Map<OperationName, OperationKind>(options.kinds.map((kind) => [kind.name, kind]));
  const { retryBaseMs, onBlocked } = options;
  const requeued = () => signals.notify(topics.outbox(network));
  const refuse = createRefusalHandler({ database, kindOf, log, notify, requeued, retryBaseMs, onBlocked });
  const settle = createTransactionSettler({ database, kindOf, refuse, notify, requeued, log });
  let turns: LaneTurns;
  const drivers = options.lanes.map((lane, index) =>
    createLaneDriver({
      database,
      lane: traceLane(lane, tracer),
      reader: options.reader,
      kinds,
      refuse,
      settle,
      tracer,
      clock,
      log,
      idleMs: (shortestMs) => idleRestMs(signals, shortestMs),
      onLease: options.onLease,
      takeTurn: () => turns.take(index),
      ...(intervalMs === undefined ? {} : { intervalMs }),
      ...(leaseMs === undefined ? {} : { leaseMs }),
    }),
  );
  turns = createLaneTurns(drivers);
  const wake = () => turns.begin();
  const unsubscribe = signals.subscribe(topics.outbox(network), wake);

  return {
    start() {
      for (const driver of drivers) driver.start();
    },
    wake,
    async stop() {
      unsubscribe();
      await Promise.all(drivers.map((driver) => driver.stop()));
    },
    drivers,
  };

  function kindOf(name: OperationName): OperationKind {
    const kind = kinds.get(name);
    if (!kind) throw new Error(`no operation kind ${name}`);
    return kind;
  }

  function notify(operations: readonly QueuedOperation[]): void {
    for (const { kind, subjectId } of operations) {
      kinds.get(kind)?.ended?.(subjectId);
      signals.notify(topics.operation(subjectId));
    }
    if (operations.length > 0) signals.notify(topics.landed(network));
  }
}

export interface SubmitterOptions {
  readonly database: Database;
  readonly network: string;
  /** The lanes, whose rows must exist. */
  readonly lanes: readonly Lane[];
  readonly reader: Pick<NetworkReader, "ownedObjects" | "transaction">;
  readonly signals: Signals;
  readonly kinds: readonly OperationKind[];
  readonly clock: Clock;
  readonly log: SubmitterLog;
  /** Default: none. */
  readonly tracer?: Tracer;
  /** The interval between queries of the queue. Signals wake the loop earlier. Default 500 ms. */
  readonly intervalMs?: number;
  /** The duration of a lease after its process dies. Default 10 s. */
  readonly leaseMs?: number;
  /** The first pause after a refusal. It doubles. Default 500 ms. */
  readonly retryBaseMs?: number;
  /** Called with 1 when this process takes a lane, and with -1 when it releases it. */
  readonly onLease?: ((change: 1 | -1) => void) | undefined;
  /** Called when the chain refuses operations until the operator acts. */
  readonly onBlocked?: ((cause: OperatorCause) => void) | undefined;
}

/** Submits queued operations on all lanes. */
export interface Submitter {
  start(): void;
  wake(): void;
  stop(): Promise<void>;
  readonly drivers: readonly LaneDriver[];
}
