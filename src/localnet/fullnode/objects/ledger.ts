import { RpcFailure, Status } from "../execution/failures.ts";
import { clockObject, withClock } from "./clock-object.ts";
import type { Commit, Settlement } from "./commit.ts";
import { createObjectStore, type ObjectStore } from "./object-store.ts";

/** Creates a ledger from `history`, whose first commit is the genesis. */
export function createLedger(history: Iterable<Commit>, options: LedgerOptions): Ledger {
  const objects = createObjectStore();
  const transactions = new Map<string, LedgerTransaction>();
  const checkpoints: LedgerTransaction[] = [];
  const listeners = new Set<(commit: Commit) => void>();
  let tail: Promise<void> = Promise.resolve();
  let failed: Error | undefined;

  for (const commit of history) apply(commit);
  const genesis = checkpoints[0];
  if (genesis === undefined) throw new Error("a ledger needs a genesis commit");

  function apply(commit: Commit): void {
    objects.apply(commit.written, commit.deleted);
    if (commit.executed.length === 0) return;
    const { digest, checkpoint, timestampMs, executed, settlement } = commit;
    const stored: LedgerTransaction = { digest, checkpoint, timestampMs, executed, settlement };
    transactions.set(digest, stored);
    if (settlement !== undefined)
      transactions.set(settlement.digest, { ...stored, ...settlement, settlement: undefined });
    checkpoints.push(stored);
  }

  function latest(): LedgerTransaction {
    return checkpoints[checkpoints.length - 1] as LedgerTransaction;
  }

  const ledger: Ledger = {
    objects: withClock(objects, () => clockObject(ledger.chainId, ledger.now())),
    chainId: genesis.digest,
    genesisTimestampMs: genesis.timestampMs,
    epochDurationMs: options.epochDurationMs,
    transaction: (digest) => transactions.get(digest),
    checkpoint: (sequenceNumber) => checkpoints[Number(sequenceNumber)],
    get latestCheckpoint() {
      return latest().checkpoint;
    },
    now() {
      // If the clock is set back, the chain's time must not run backwards.
      const wall = BigInt(options.clock());
      const timestampMs = wall > latest().timestampMs ? wall : latest().timestampMs;
      const epoch = (timestampMs - ledger.genesisTimestampMs) / options.epochDurationMs + 1n;
      return { checkpoint: latest().checkpoint + 1n, timestampMs, epoch };
    },
    exclusive(work) {
      const turn = tail.then(async () => {
        if (failed !== undefined)
          throw new RpcFailure(Status.Unavailable, "the ledger can no longer be written");
        const commit = work(ledger.now());
        if (commit === undefined) return;
        try {
          await options.log.append(commit);
        } catch (error) {
          // The state on disk is now unknown, so this process must not build on it.
          failed = error as Error;
          throw new RpcFailure(Status.Unavailable, "the ledger could not be written");
        }
        apply(commit);
        for (const listener of listeners) listener(commit);
      });
      tail = turn.catch(() => undefined);
      return turn;
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return ledger;
}

/** The storage of commits. A commit is durable when the promise resolves. */
export interface CommitLog {
  append(commit: Commit): Promise<void>;
}

/** The position of a transaction in the ledger. */
export interface LedgerTransaction {
  readonly digest: string;
  readonly checkpoint: bigint;
  readonly timestampMs: bigint;
  readonly executed: Uint8Array;
  /** The settlement in the same checkpoint. */
  readonly settlement: Settlement | undefined;
}

/** The time at which the next transaction executes. */
export interface LedgerTime {
  readonly checkpoint: bigint;
  readonly timestampMs: bigint;
  readonly epoch: bigint;
}

/** The chain's state: the current objects and all executed transactions. Only durable commits are visible. */
export interface Ledger {
  readonly objects: ObjectStore;
  readonly chainId: string;
  readonly genesisTimestampMs: bigint;
  readonly epochDurationMs: bigint;
  transaction(digest: string): LedgerTransaction | undefined;
  checkpoint(sequenceNumber: bigint): LedgerTransaction | undefined;
  readonly latestCheckpoint: bigint;
  now(): LedgerTime;
  /**
   * Runs `work` exclusively. It sees the state after all earlier commits. Its result becomes durable, then visible.
   * `work` returns undefined to commit nothing.
   */
  exclusive(work: (time: LedgerTime) => Commit | undefined): Promise<void>;
  /** Calls `listener` after each commit, until the returned function is called. */
  onCommit(listener: (commit: Commit) => void): () => void;
}

/** Options of {@link createLedger}. */
export interface LedgerOptions {
  readonly epochDurationMs: bigint;
  readonly log: CommitLog;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Creates a view of the ledger as it was some commits ago: older objects, and none of the newest transactions. `behind`
 * is called at each commit and returns the number of commits. The view never moves back, and it does not catch up
 * without new commits.
 */
export function createLaggingLedger(ledger: Ledger, history: Iterable<Commit>, behind: () => number): Ledger {
  const objects = createObjectStore();
  for (const commit of history) objects.apply(commit.written, commit.deleted);
  const waiting: Commit[] = [];
  const unseen = new Set<string>();
  let latest = ledger.latestCheckpoint;
  ledger.onCommit((commit) => {
    waiting.push(commit);
    for (const digest of digestsOf(commit)) unseen.add(digest);
    while (waiting.length > behind()) {
      const next = waiting.shift() as Commit;
      objects.apply(next.written, next.deleted);
      for (const digest of digestsOf(next)) unseen.delete(digest);
      latest = next.checkpoint;
    }
  });
  return {
    ...ledger,
    objects: withClock(objects, () => clockObject(ledger.chainId, ledger.now())),
    transaction: (digest) => (unseen.has(digest) ? undefined : ledger.transaction(digest)),
    checkpoint: (sequenceNumber) => (sequenceNumber > latest ? undefined : ledger.checkpoint(sequenceNumber)),
    get latestCheckpoint() {
      return latest;
    },
  };
}

const digestsOf = ({ digest, settlement }: Commit): string[] =>
  settlement === undefined ? [digest] : [digest, settlement.digest];
