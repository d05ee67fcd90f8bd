import type { Commit } from "./commit.ts";
import type { Ledger } from "./ledger.ts";
import { createObjectStore } from "./object-store.ts";

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
    objects,
    transaction: (digest) => (unseen.has(digest) ? undefined : ledger.transaction(digest)),
    checkpoint: (sequenceNumber) => (sequenceNumber > latest ? undefined : ledger.checkpoint(sequenceNumber)),
    get latestCheckpoint() {
      return latest;
    },
  };
}

const digestsOf = ({ digest, settlement }: Commit): string[] =>
  settlement === undefined ? [digest] : [digest, settlement.digest];
