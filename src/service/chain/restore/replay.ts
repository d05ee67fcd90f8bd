import sql from "sql-template-tag";
import { type Database, execute, newId, type Queryable } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import type { LandedTransaction, OperationKind, OperationName } from "../operation.ts";
import {
  finishOperations,
  type QueuedOperation,
  releaseOperations,
  resolveTransaction,
} from "../submit/outbox.ts";
import { landOperations } from "../submit/settle-transaction.ts";
import type { PastTransaction } from "./lost-transactions.ts";

/**
 * Records a transaction whose outcome the database does not know, with all its changes, in one database transaction. If
 * the database has stored the transaction, its operations end with it. If not, its rows are restored to their earlier
 * state and land again.
 */
export async function replayTransaction(options: ReplayOptions, sent: PastTransaction): Promise<Replayed> {
  const { database, network, kinds, rebuilders } = options;
  const { outcome } = sent;
  return database.transaction(async (db) => {
    const wasStored = await enterTransaction(db, network, sent);
    const counts: Partial<Record<OperationName, number>> = {};
    const unrecoverable: Unrecoverable[] = [];
    if (outcome.kind === "aborted") {
      await releaseOperations(db, sent.digest);
      return { counts, unrecoverable };
    }
    if (wasStored) {
      const landed = await landOperations(db, kindOf, outcome.transaction);
      return { counts: countsOf(landed), unrecoverable };
    }
    for (const { kind: name, rebuild } of rebuilders) {
      const rebuilt = await rebuild(db, outcome.transaction, sent);
      unrecoverable.push(...rebuilt.unrecoverable);
      if (rebuilt.subjectIds.length === 0) continue;
      const kind = kindOf(name);
      const subjects = await kind.load(db, rebuilt.subjectIds);
      await kind.landed(db, [...subjects.values()], outcome.transaction);
      await enterOperations(db, network.name, kind, rebuilt.subjectIds, sent.digest);
      counts[name] = subjects.size;
    }
    return { counts, unrecoverable };
  });

  function kindOf(name: OperationName): OperationKind {
    const kind = kinds.find((one) => one.name === name);
    if (kind === undefined) throw new Error(`no operation kind ${name}`);
    return kind;
  }
}

/** Something on the chain that cannot be restored, because the chain does not contain all of its data. */
export interface Unrecoverable {
  readonly what: "encryption key" | "dWallet" | "share" | "sign request" | "held half" | "deposit address";
  /** The object's id, or the address, on the chain. For a held half it is that of its presign. */
  readonly id: string;
  /** Why it cannot be restored, and the remedy. */
  readonly reason: string;
}

/** The result of one kind of operation for a lost transaction. */
interface Rebuilt {
  /** The transaction's rows in their earlier state. */
  readonly subjectIds: readonly string[];
  readonly unrecoverable: readonly Unrecoverable[];
}

/** Restores the rows of one kind of operation. The feature that owns the rows defines it. */
export interface Rebuilder {
  readonly kind: OperationName;
  rebuild(db: Queryable, transaction: LandedTransaction, sent: PastTransaction): Promise<Rebuilt>;
}

interface ReplayOptions {
  readonly database: Database;
  readonly network: Pick<ChainNetwork, "name" | "treasury">;
  readonly kinds: readonly OperationKind[];
  readonly rebuilders: readonly Rebuilder[];
}

/** The restored rows, by kind. */
interface Replayed {
  readonly counts: Readonly<Partial<Record<OperationName, number>>>;
  readonly unrecoverable: readonly Unrecoverable[];
}

function countsOf(operations: readonly QueuedOperation[]): Replayed["counts"] {
  const [first] = operations;
  return first === undefined ? {} : { [first.kind]: operations.length };
}

/** The lane of a transaction whose block does not use an OperatorCap. */
const UNKNOWN_LANE = "unknown";

/** Records the transaction. Returns true if it was already stored, without its outcome. */
async function enterTransaction(
  db: Queryable,
  network: ReplayOptions["network"],
  { digest, sender, bytes, signatures, time, outcome }: PastTransaction,
): Promise<boolean> {
  const error = outcome.kind === "aborted" ? outcome.error.message : undefined;
  const ended = { state: outcome.kind, gasUsedMist: outcome.gasUsedMist, ...(error && { error }) };
  if (await resolveTransaction(db, digest, ended)) return true;
  const lane = network.treasury.operatorCapIds.find((id) => outcome.changes.inputVersions.has(id));
  await execute(
    db,
    sql`INSERT INTO chain_transaction
          (digest, network, sender, lane, bytes, signatures, state, sends, error, gas_used_mist, created_at, resolved_at)
        VALUES (${digest}, ${network.name}, ${sender}, ${lane ?? UNKNOWN_LANE}, ${bytes}, ${[...signatures]},
          ${outcome.kind}, 1, ${error ?? null}, ${outcome.gasUsedMist}, coalesce(${time ?? null}, now()), now())`,
  );
  return false;
}

async function enterOperations(
  db: Queryable,
  network: string,
  { name, priority }: Pick<OperationKind, "name" | "priority">,
  subjectIds: readonly string[],
  digest: string,
): Promise<void> {
  await execute(
    db,
    sql`INSERT INTO chain_operation (id, network, kind, subject_id, priority, state, tx_digest)
        SELECT id, ${network}, ${name}, subject_id, ${priority}, 'landed', ${digest}
        FROM unnest(${subjectIds.map(newId)}::uuid[], ${subjectIds}::uuid[]) AS t (id, subject_id)
        ON CONFLICT (kind, subject_id) DO UPDATE SET state = 'landed', tx_digest = excluded.tx_digest,
          failure_reason = NULL, failure_detail = NULL, updated_at = now()`,
  );
}

/**
 * Looks up the mark of every queued operation on the chain and settles those that have one. Such operations exist after
 * an older copy was restored, because the newer database has already sent them. Returns their number.
 */
export async function adoptOperations({
  database,
  network,
  kinds,
  log,
}: {
  readonly database: Database;
  readonly network: string;
  readonly kinds: readonly OperationKind[];
  readonly log: Log;
}): Promise<number> {
  let adoptedCount = 0;
  for (const kind of kinds) {
    for (let after = FIRST; ; ) {
      const page = await database.prisma.chainOperation.findMany({
        where: { network, kind: kind.name, state: "queued", id: { gt: after } },
        orderBy: { id: "asc" },
        take: PAGE_COUNT,
        select: { id: true, subjectId: true },
      });
      const subjects = await kind.load(
        database,
        page.map(({ subjectId }) => subjectId),
      );
      for (const { id, subjectId } of page) {
        const subject = subjects.get(subjectId);
        if (subject === undefined || !(await kind.adopt(database, subject, NOT_TRIED))) continue;
        await finishOperations(database, [id]);
        kind.ended?.(subjectId);
        adoptedCount++;
      }
      const last = page.at(PAGE_COUNT - 1);
      if (last === undefined) break;
      after = last.id;
    }
  }
  log.info({ adoptedCount }, "adopted operations that the chain already has");
  return adoptedCount;
}

const PAGE_COUNT = 100;
/** Sorts before every row's id. */
const FIRST = "00000000-0000-0000-0000-000000000000";

const NOT_TRIED = { reason: "NOT_TRIED", message: "the operation was not tried" };
