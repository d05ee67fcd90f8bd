import type { GrpcTypes } from "@mysten/sui/grpc";
import { disagreement, explain } from "./explain.ts";
import { type FullnodeEvents, TooManyEventsError } from "./fullnode-events.ts";
import { type Sighting, sightingOf } from "./sightings.ts";
import { type Alert, type TowerState, writeState } from "./tower-state.ts";
import { type LoggedRequest, type LogPosition, readLog } from "./user-log.ts";

/**
 * Creates a watch that makes one round at a time: it reads the logs and the next checkpoints of every fullnode, decides,
 * and writes the new state before it returns. All fullnodes must answer and have the checkpoints; a round that fails
 * changes nothing.
 */
export function createWatch(options: WatchOptions): Watch {
  const { fullnodes, logs, stateFile, graceMs, nowMs } = options;
  let state = options.state;
  let spanCount = SPAN_MAX_COUNT;
  let written = { content: "", next: 0n };
  let last: Promise<void> = Promise.resolve();

  async function round(signal: AbortSignal): Promise<RoundResult> {
    const positions = await Promise.all(fullnodes.map((fullnode) => fullnode.position(signal)));
    for (const [index, { chainId, lowest }] of positions.entries()) {
      const { host } = fullnodes[index]!;
      if (chainId !== state.chainId) throw new Error(`${host} serves another chain`);
      if (lowest > BigInt(state.next))
        throw new Error(`${host} no longer has checkpoint ${state.next}; use a fullnode that has it`);
    }
    const from = BigInt(state.next);
    const heights = positions.map((position) => position.latest).toSorted((a, b) => (a < b ? -1 : 1));
    const latest = heights[0] ?? 0n;
    const newest = heights.at(-1) ?? 0n;
    const end = latest < from + BigInt(spanCount) ? latest : from + BigInt(spanCount) - 1n;
    const part = end < from ? undefined : await readAll({ from, to: end, signal });
    const { found, to }: Part = part ?? { found: [], to: end };
    const read = await readLogs(state.logs);
    const watched = found.filter(
      ({ sighting: { dwalletId } }) => dwalletId === "" || options.isWatched(dwalletId),
    );
    const at = nowMs();
    const sightings = watched.map(({ sighting }) => sighting);
    const lies = watched
      .filter(({ without }) => without.length > 0)
      .map(({ sighting, without }) => disagreement(sighting, without, at));
    let told: readonly Alert[] = [];
    let droppedCount = 0;
    await change((now) => {
      const decision = explain(now, { requests: read.requests, sightings, nowMs: at, graceMs });
      told = [...decision.told, ...lies];
      // Before the state forgets them: a process that dies in between tells them again.
      options.onTold(told);
      const untold = [...now.untold, ...(options.keepsAlerts ? told : [])];
      droppedCount = Math.max(untold.length - UNTOLD_MAX_COUNT, 0);
      return {
        ...now,
        next: String(to < from ? from : to + 1n),
        logs: read.positions,
        expected: decision.expected,
        pending: decision.pending,
        untold: untold.slice(droppedCount),
      };
    });
    return {
      told,
      droppedCount,
      newest,
      lag: newest - (to < from ? from - 1n : to),
      seenCount: sightings.length,
      disagreedCount: found.filter(({ without }) => without.length > 0).length,
      hasMore: (to >= from && to === end && to < latest) || read.hasMore,
    };
  }

  /** Reads up to the last checkpoint whose events every fullnode has indexed. */
  async function readAll(range: { from: bigint; to: bigint; signal: AbortSignal }): Promise<Part> {
    try {
      const lists = await Promise.all(
        fullnodes.map((fullnode) => fullnode.events({ ...range, types: options.types })),
      );
      spanCount = Math.min(spanCount * 2, SPAN_MAX_COUNT);
      const [to = range.to] = lists.map(({ covered }) => covered).toSorted((a, b) => (a < b ? -1 : 1));
      const isCovered = ({ checkpoint = 0n }: GrpcTypes.Event) => checkpoint <= to;
      const seen = lists.map(({ events }) =>
        events.filter(isCovered).flatMap((one) => sightingOf(one) ?? []),
      );
      return { found: union(seen), to };
    } catch (cause) {
      if (cause instanceof TooManyEventsError && spanCount > 1) spanCount = Math.ceil(spanCount / 2);
      throw cause;
    }
  }

  /** Returns every sighting once, with the hosts that have not shown it. */
  function union(lists: readonly (readonly Sighting[])[]): Found[] {
    const all = new Map(lists.flat().map((sighting) => [sighting.id, sighting]));
    const sets = lists.map((list) => new Set(list.map(({ id }) => id)));
    return [...all.values()].map((sighting) => ({
      sighting,
      without: fullnodes.flatMap(({ host }, index) => (sets[index]!.has(sighting.id) ? [] : [host])),
    }));
  }

  async function readLogs(last: TowerState["logs"]) {
    const positions: Record<string, LogPosition> = {};
    const requests: LoggedRequest[] = [];
    let hasMore = false;
    for (const file of logs) {
      const part = await readLog(file, last[file]);
      requests.push(...part.requests);
      if (part.position !== undefined) positions[file] = part.position;
      hasMore ||= part.hasMore;
    }
    return { positions, requests, hasMore };
  }

  /** Changes the state, one change after the other. */
  function change(update: (now: TowerState) => TowerState): Promise<void> {
    const done = last.then(() => save(update(state)));
    last = done.catch(() => {});
    return done;
  }

  /** Writes what a restart must know. An idle chain also makes checkpoints: reading some of them again costs little. */
  async function save(next: TowerState): Promise<void> {
    const content = JSON.stringify({ ...next, next: "" });
    if (content !== written.content || BigInt(next.next) - written.next >= UNWRITTEN_MAX_COUNT) {
      await writeState(stateFile, next);
      written = { content, next: BigInt(next.next) };
    }
    state = next;
  }

  return {
    round,
    untold: () => state.untold,
    forget: (id) => change((now) => ({ ...now, untold: now.untold.filter((alert) => alert.id !== id) })),
  };
}

/** The rounds of a watchtower, one at a time. */
export interface Watch {
  /** Makes a round. Rejects, without a change, if a fullnode or the disk fails. */
  round(signal: AbortSignal): Promise<RoundResult>;
  /** What was not delivered, the oldest first. */
  untold(): readonly Alert[];
  /** Forgets a delivered alert. */
  forget(id: string): Promise<void>;
}

/** Options of {@link createWatch}. */
export interface WatchOptions {
  readonly fullnodes: readonly FullnodeEvents[];
  /** The event types to ask for. */
  readonly types: readonly string[];
  /** The files of the user's log. */
  readonly logs: readonly string[];
  readonly stateFile: string;
  /** The state to begin with. */
  readonly state: TowerState;
  /** How long a sighting waits for its line in the log. */
  readonly graceMs: number;
  /** Whether alerts wait for a webhook. */
  readonly keepsAlerts: boolean;
  isWatched(dwalletId: string): boolean;
  /** Called with the alerts of each round before they are on the disk; again if that fails. */
  onTold(alerts: readonly Alert[]): void;
  nowMs(): number;
}

/** What a round has found. */
export interface RoundResult {
  readonly told: readonly Alert[];
  /** Alerts that were dropped because too many wait. They are in the log. */
  readonly droppedCount: number;
  /** How many checkpoints of the fullnode that is furthest are left to read; negative if all are behind the state. */
  readonly lag: bigint;
  /** The newest checkpoint of any fullnode. */
  readonly newest: bigint;
  /** Sightings of watched dWallets, and of the whole Treasury. */
  readonly seenCount: number;
  /** Events that not every fullnode has shown, of any dWallet. */
  readonly disagreedCount: number;
  /** Whether another round would find more at once. */
  readonly hasMore: boolean;
}

/** What all fullnodes have indexed of a range. */
interface Part {
  readonly found: readonly Found[];
  /** The last checkpoint of the part. */
  readonly to: bigint;
}

interface Found {
  readonly sighting: Sighting;
  /** The hosts that have not shown it. */
  readonly without: readonly string[];
}

/** The maximum number of checkpoints in a round, as many as a fullnode reads in one list. */
const SPAN_MAX_COUNT = 1_000;
const UNWRITTEN_MAX_COUNT = 100n;
/** The maximum number of alerts that wait for the webhook. */
const UNTOLD_MAX_COUNT = 1_000;
