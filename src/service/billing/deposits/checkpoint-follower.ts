import sql from "sql-template-tag";
import { bigint, boolean, nullable, number } from "../../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../../platform/store/database.ts";

/** The lease to follow a network's checkpoints. Its fence rejects writes after another process has taken over. */
export interface FollowerLease {
  readonly network: string;
  readonly fence: bigint;
}

/** A lease, and the position where its holder continues. */
export interface FollowerPosition extends FollowerLease {
  /** The checkpoint to read next; null before the first. */
  readonly next: bigint | null;
  /** Whether checkpoints announce payments. */
  readonly isFollowing: boolean;
}

/** Takes or renews the lease. Returns undefined while another process holds it. */
export async function leaseFollower(
  db: Database,
  network: string,
  held: FollowerLease | undefined,
): Promise<FollowerPosition | undefined> {
  const fence = held?.fence ?? NO_FENCE;
  if (held === undefined) {
    await db.prisma.checkpointFollower.createMany({
      data: { network, leasedUntil: LONG_AGO },
      skipDuplicates: true,
    });
  }
  const [row] = await readRows(
    db,
    sql`UPDATE checkpoint_follower SET fence = fence + CASE WHEN fence = ${fence}::bigint THEN 0 ELSE 1 END,
       leased_until = now() + ${LEASE_MS} * interval '1 millisecond'
     WHERE network = ${network} AND (leased_until <= now() OR fence = ${fence}::bigint)
     RETURNING fence, next_checkpoint AS next, is_following AS "isFollowing"`,
    { fence: bigint, next: nullable(bigint), isFollowing: boolean },
  );
  return row && { network, ...row };
}

/** Ends the lease, so that another process can follow at once. */
export async function releaseFollower(db: Queryable, { network, fence }: FollowerLease): Promise<void> {
  await execute(
    db,
    sql`UPDATE checkpoint_follower SET leased_until = '-infinity' WHERE network = ${network} AND fence = ${fence}`,
  );
}

/**
 * Moves the position and makes the deposit addresses among `addresses` due. One statement does both, so that no crash
 * separates them. Returns the number of these addresses, or undefined if another process holds the lease.
 */
export async function moveFollower(
  db: Queryable,
  { network, fence }: FollowerLease,
  { next, hasCaughtUp, addresses }: FollowerMove,
): Promise<number | undefined> {
  const [row] = await readRows(
    db,
    sql`WITH moved AS (
       UPDATE checkpoint_follower SET next_checkpoint = ${next}::bigint,
         is_following = is_following OR ${hasCaughtUp},
         caught_up_at = CASE WHEN ${hasCaughtUp} THEN now() ELSE caught_up_at END
       WHERE network = ${network} AND fence = ${fence} RETURNING network
     ), due AS (
       UPDATE deposit_address a SET due_at = least(a.due_at, now()),
         wanted_at = greatest(a.wanted_at, now() - ${ANNOUNCED_AGO_MS} * interval '1 millisecond')
       FROM moved WHERE a.network = moved.network AND a.address = ANY(${[...addresses]}::text[]) RETURNING 1
     ) SELECT (SELECT count(*) FROM moved)::int AS moved, (SELECT count(*) FROM due)::int AS due`,
    { moved: number, due: number },
  );
  return row?.moved === 1 ? row.due : undefined;
}

/** The result of a step of the follower. */
export interface FollowerMove {
  /** The checkpoint to read next; null if it is still unknown. */
  readonly next: bigint | null;
  /** True if the follower has read every checkpoint so far. */
  readonly hasCaughtUp: boolean;
  /** Addresses that gained coins. Most of them are not deposit addresses. */
  readonly addresses: readonly string[];
}

/** Records that checkpoints no longer announce payments. */
export async function stopFollowing({ prisma }: Database, { network, fence }: FollowerLease): Promise<void> {
  await prisma.checkpointFollower.updateMany({ where: { network, fence }, data: { isFollowing: false } });
}

/** How long an address counts as active after a caller requested it or a payment arrived. */
export const IN_USE_MS = 3_600_000;

/**
 * An announced payment keeps an address active for a minute, so that further scans find a coin that the fullnode lists
 * late.
 */
const ANNOUNCED_AGO_MS = IN_USE_MS - 60_000;
const LEASE_MS = 30_000;
/** The expiry of a lease that was never held. */
const LONG_AGO = new Date(0);
/** No lease has this number. */
const NO_FENCE = -1n;
