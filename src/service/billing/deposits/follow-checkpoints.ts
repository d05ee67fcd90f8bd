import sql from "sql-template-tag";
import { type CheckpointReader, CheckpointsNotServedError } from "../../chain/checkpoint-reader.ts";
import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { createBackgroundLoop, type PassResult } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { Loop } from "../../platform/lifecycle/start-loops.ts";
import { nullable, text } from "../../platform/store/columns.ts";
import { type Database, readRows } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import {
  type FollowerPosition,
  leaseFollower,
  moveFollower,
  releaseFollower,
  stopFollowing,
} from "./checkpoint-follower.ts";
import { createStreamKeeper, type OpenStream } from "./checkpoint-stream.ts";
import type { Deposits } from "./deposits.ts";

/**
 * Creates a loop that follows the network's checkpoints and makes each deposit address due that gains accepted coins,
 * so that quiet addresses need few scans. One process at a time follows. Half a minute after it dies, another takes
 * over. A checkpoint credits nothing: only the scan of a due address does. Regular scans find payments that a fullnode
 * leaves out.
 */
export function createCheckpointFollower(
  { database, network }: Pick<Deposits, "database" | "network">,
  { reader, pollMs, signals, clock, log }: FollowOptions,
): Loop {
  const keeper = createStreamKeeper(reader, clock, () => {
    hasNews = true;
    // A busy chain has news at each interval, and never wakes the loop.
    if (isSilent) loop.wake();
    isSilent = false;
  });
  let hasNews = false;
  let isSilent = false;
  let held: FollowerPosition | undefined;
  let leaseAtMs = 0;
  let caughtUpAtMs = 0;
  let unread = { from: -1n, tries: 0 };
  let hasWarned = false;

  const loop = createBackgroundLoop({ name: "checkpoints", pass, intervalMs: INTERVAL_MS, clock, log });
  return {
    start: () => loop.start(),
    async stop() {
      await loop.stop();
      await keeper.close();
      if (held) await releaseFollower(database, held);
    },
  };

  async function pass(): Promise<PassResult> {
    isSilent = hasNews = false;
    await hold();
    if (held === undefined) {
      await keeper.close();
      return false;
    }
    const isLate = clock.now() - caughtUpAtMs > LATE_MS;
    const isUnserved = keeper.failure?.cause instanceof CheckpointsNotServedError;
    if (isLate || isUnserved) await giveUp(held);
    const open = await keeper.check();
    if (open === undefined) return false;
    const addresses = open.stream.takeAddresses();
    try {
      isSilent = (await follow(held, open, addresses)) === "rest" && !hasNews;
    } catch (error) {
      open.stream.putBack(addresses);
      throw error;
    }
    return isSilent && { restMs: SILENT_REST_MS };
  }

  async function hold(): Promise<void> {
    if (clock.now() < leaseAtMs) return;
    const leased = await leaseFollower(database, network, held);
    if (leased !== undefined && leased.fence !== held?.fence) caughtUpAtMs = clock.now();
    held = leased;
    leaseAtMs = clock.now() + RENEW_MS;
  }

  async function follow(
    position: FollowerPosition,
    open: OpenStream,
    addresses: string[],
  ): Promise<FollowStep["kind"]> {
    const { next } = position;
    const isUnreadable = unread.from === next && unread.tries >= MAX_TRIES;
    const step = planFollow({ next, seen: open.stream.seen, latest: open.latest, isUnreadable });
    await take(step, position, open, addresses);
    return step.kind;
  }

  async function take(
    step: FollowStep,
    position: FollowerPosition,
    open: OpenStream,
    addresses: string[],
  ): Promise<void> {
    const { next } = position;
    switch (step.kind) {
      case "advance":
        return move(position, { next: step.to, hasCaughtUp: true, addresses });
      case "skip":
        log.warn({ next, to: step.to }, "skips checkpoints and scans every deposit address");
        await hasten();
        return move(position, { next: step.to, hasCaughtUp: true, addresses });
      case "read": {
        const gained = await readGap(step.from, step.to);
        // Payments that the stream announced do not wait for the gap.
        if (gained === undefined) return move(position, { next, hasCaughtUp: false, addresses });
        return move(position, { next: step.to, hasCaughtUp: false, addresses: [...addresses, ...gained] });
      }
      case "rest":
        if (addresses.length > 0 || open.heardAtMs > caughtUpAtMs + TOUCH_MS)
          await move(position, { next, hasCaughtUp: true, addresses });
    }
  }

  async function move(position: FollowerPosition, to: Parameters<typeof moveFollower>[2]): Promise<void> {
    const dueCount = await moveFollower(database, position, to);
    if (dueCount === undefined) {
      held = undefined;
      return;
    }
    if (dueCount > 0) signals.notify(topics.depositDue(network));
    held = { ...position, next: to.next, isFollowing: position.isFollowing || to.hasCaughtUp };
    if (!to.hasCaughtUp) return;
    caughtUpAtMs = clock.now();
    hasWarned = false;
    if (!position.isFollowing) log.info({}, "follows checkpoints; quiet addresses are scanned slowly");
  }

  /** Returns the addresses that gained coins; undefined if a checkpoint cannot be read yet. */
  async function readGap(from: bigint, to: bigint): Promise<string[] | undefined> {
    unread = { from, tries: unread.from === from ? unread.tries + 1 : 1 };
    const gained: string[] = [];
    for (let first = from; first < to; first += READS_AT_ONCE) {
      const end = first + READS_AT_ONCE < to ? first + READS_AT_ONCE : to;
      const sequences = Array.from({ length: Number(end - first) }, (_, index) => first + BigInt(index));
      const checkpoints = await Promise.all(sequences.map((sequence) => reader.read(sequence)));
      for (const checkpoint of checkpoints) {
        if (checkpoint === undefined) return undefined;
        gained.push(...checkpoint.addresses);
      }
    }
    return gained;
  }

  /** Reverts quiet addresses to the scan rate without checkpoints. */
  async function giveUp(position: FollowerPosition): Promise<void> {
    if (!hasWarned)
      log.warn(
        { cause: keeper.failure?.cause },
        "cannot follow checkpoints; scans every deposit address instead",
      );
    hasWarned = true;
    if (!position.isFollowing) return;
    await hasten();
    await stopFollowing(database, position);
    held = { ...position, isFollowing: false };
  }

  async function hasten(): Promise<void> {
    await hastenScans(database, { network, pollMs });
    signals.notify(topics.depositDue(network));
  }
}

/** Options of the follower. */
interface FollowOptions {
  readonly reader: CheckpointReader;
  /** The interval between scans of an active address. */
  readonly pollMs: number;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
}

/** The longest time from an announced payment until its address is due. */
const INTERVAL_MS = 1_000;
/** The longest rest while the chain is silent. The next checkpoint ends it. */
const SILENT_REST_MS = 10_000;
const RENEW_MS = 10_000;
/** After this time without progress, quiet addresses are scanned as often as without checkpoints. */
const LATE_MS = 60_000;
/** The interval at which the follower of a silent chain records that nothing is new. */
const TOUCH_MS = 10_000;
const READS_AT_ONCE = 10n;
/** After this many failed reads of a checkpoint, the follower skips ahead and scans every address. */
const MAX_TRIES = 5;

/**
 * Decides the follower's next step. It reads the checkpoints between its position and the start of the stream one by
 * one, unless they are too many. A position far beyond the chain's end comes from a lying fullnode or another chain, so
 * the follower goes back.
 */
export function planFollow({ next, seen, latest, isUnreadable }: FollowState): FollowStep {
  const end = (seen?.last ?? latest) + 1n;
  if (next === null) return { kind: "advance", to: end };
  if (next > end + MAX_LAG) return { kind: "skip", to: end };
  const streamStart = seen?.first ?? end;
  if (next < streamStart) {
    if (isUnreadable || streamStart - next > MAX_GAP) return { kind: "skip", to: end };
    const chunkEnd = next + READS_PER_STEP;
    return { kind: "read", from: next, to: chunkEnd < streamStart ? chunkEnd : streamStart };
  }
  return next < end ? { kind: "advance", to: end } : { kind: "rest" };
}

/** The follower's position. */
export interface FollowState {
  /** The checkpoint to read next; null before the first. */
  readonly next: bigint | null;
  /** The first and the last checkpoint of the open stream; undefined before its first message. */
  readonly seen: { readonly first: bigint; readonly last: bigint } | undefined;
  /** The newest checkpoint at some time after the stream was opened. */
  readonly latest: bigint;
  /** True if the fullnode lacks the checkpoint to read next. */
  readonly isUnreadable: boolean;
}

/** The next step: `to` is the position after it. */
type FollowStep =
  /** Read the checkpoints from `from` up to, but without, `to` one by one. */
  | { readonly kind: "read"; readonly from: bigint; readonly to: bigint }
  /** Every checkpoint before `to` has been read. */
  | { readonly kind: "advance"; readonly to: bigint }
  /** Checkpoints before `to` were not read, so every address must be scanned. */
  | { readonly kind: "skip"; readonly to: bigint }
  | { readonly kind: "rest" };

/** Five minutes of a public network. Beyond that, scans of every address cost about as much as the checkpoints. */
const MAX_GAP = 1_200n;
/** Bounds the calls per second while the follower catches up. */
const READS_PER_STEP = 50n;
/** Fullnodes behind one load balancer differ by less. */
const MAX_LAG = 240n;

/**
 * Brings the next scan of every address forward, to a random moment within the time that all scans take at
 * {@link SCANS_PER_SECOND}. A repeated call does not exceed that rate.
 */
export async function hastenScans(
  db: Database,
  { network, pollMs }: { readonly network: string; readonly pollMs: number },
): Promise<void> {
  const count = await db.prisma.depositAddress.count({ where: { network } });
  const spreadMs = Math.max(pollMs, (count / SCANS_PER_SECOND) * 1_000);
  for (let after = FIRST; ; ) {
    const [page] = await readRows(
      db,
      sql`WITH page AS (
         SELECT address FROM deposit_address WHERE network = ${network} AND address > ${after}
         ORDER BY address LIMIT ${PAGE_COUNT}
       ), hastened AS (
         UPDATE deposit_address a
         SET due_at = least(a.due_at, now() + random() * ${spreadMs}::float8 * interval '1 millisecond')
         FROM page WHERE a.address = page.address RETURNING 1
       ) SELECT max(address) AS last FROM page`,
      { last: nullable(text) },
    );
    if (page === undefined || page.last === null) return;
    after = page.last;
  }
}

/** At this rate, ten thousand addresses take eight minutes. */
const SCANS_PER_SECOND = 20;
/** Bounds the rows that one statement locks. */
const PAGE_COUNT = 5_000;
/** Sorts before every address. */
const FIRST = "";
