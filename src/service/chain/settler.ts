import { type SpanContext, SpanKind } from "@opentelemetry/api";
import type { MixUpReport } from "../../protocol/chain/bind-answers.ts";
import type { ChainReader } from "../../protocol/chain/chain-reader.ts";
import { mixUpIn } from "../../protocol/chain/read-errors.ts";
import { createBackgroundLoop, type PassResult } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { Database } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import {
  failSpan,
  failureKind,
  isTracing,
  NO_TRACER,
  runIn,
  startRemoteSpan,
  type Tracer,
} from "../platform/telemetry/tracer.ts";
import type { OpenSession, SessionKind } from "./session.ts";
import { readSessionTraces } from "./submit/trace-operations.ts";

/**
 * Creates the settler. It reads the objects of all open sessions in batches and lets their kinds write the outcomes. It
 * never gives up: a session that completes late is delivered late. If the fullnode answers with another session's
 * object, the session stays open and is read again later, while the others are delivered. If there are more sessions
 * than one pass reads, they take turns, so that old open sessions never block newer ones.
 */
export function createSettler(options: SettlerOptions): Settler {
  const {
    database,
    reader,
    kinds,
    clock,
    log,
    tracer = NO_TRACER,
    intervalMs = DEFAULT_INTERVAL_MS,
    idleMs = (shortestMs) => shortestMs,
  } = options;
  const pausedUntilMs = new Map<string, number>();
  /** The position of the next pass, by kind. */
  const nextAfter = new Map<SessionKind, string>();
  /** The sessions of the last pass, and the time of the last one that was new. */
  let known: ReadonlySet<string> = new Set();
  let newestMs = 0;
  return createBackgroundLoop({
    name: "settler",
    pass,
    wakeOn: options.wakeOn,
    intervalMs,
    clock,
    maxBackoffMs: MAX_BACKOFF_MS,
    log,
  });

  async function pass(): Promise<PassResult> {
    const found: { kind: SessionKind; session: OpenSession }[] = [];
    const pages = await Promise.all(kinds.map(nextPage));
    for (const [index, kind] of kinds.entries())
      for (const session of pages[index] ?? []) found.push({ kind, session });
    if (found.length === 0 && nextAfter.size === 0) return { restMs: idleMs(IDLE_INTERVALS * intervalMs) };
    const open = found.filter(({ session }) => !isPaused(session.objectId));
    if (open.length === 0) return;
    const contents = await read(open.map(({ session }) => session.objectId));
    // The other sessions are read again at once.
    if (contents === undefined) return true;
    const traces = isTracing(tracer) ? await readSessionTraces(database, open) : NO_TRACES;
    const waiting = open.values();
    const settleNext = async (): Promise<void> => {
      for (const { kind, session } of waiting) {
        const content = contents.get(session.objectId);
        // A later pass delivers an object that a lagging fullnode does not know yet.
        if (content !== undefined) await settleOne(kind, session, content, traces.get(session.subjectId));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE_COUNT }, settleNext));
    return nextAfter.size > 0
      ? undefined
      : { restMs: restMsOf(found.map(({ session }) => session.objectId)) };
  }

  /** The pause before the given sessions are read again, which are all that are open. */
  function restMsOf(objectIds: readonly string[]): number {
    const nowMs = clock.now();
    if (objectIds.some((id) => !known.has(id))) newestMs = nowMs;
    known = new Set(objectIds);
    return Math.min(Math.max(intervalMs, (nowMs - newestMs) * REST_PART), REST_INTERVALS * intervalMs);
  }

  /** Returns undefined if the fullnode returned wrong objects for some sessions, which then pause. */
  async function read(objectIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
    try {
      return await reader.getObjects(objectIds);
    } catch (cause) {
      const others = new Set(mixUpIn(cause)?.objectIds);
      const wrong = objectIds.filter((id) => others.has(id));
      if (wrong.length === 0) throw cause;
      log.error({ objectIds: wrong, cause }, "the fullnode returned objects that were not requested");
      for (const id of wrong) pausedUntilMs.set(id, clock.now() + FAILED_INTERVALS * intervalMs);
      return undefined;
    }
  }

  async function nextPage(kind: SessionKind): Promise<OpenSession[]> {
    const page = await kind.open(database, { after: nextAfter.get(kind) ?? FIRST, limit: PAGE_COUNT });
    const last = page.at(PAGE_COUNT - 1);
    if (last === undefined) nextAfter.delete(kind);
    else nextAfter.set(kind, last.subjectId);
    return page;
  }

  function isPaused(objectId: string): boolean {
    const untilMs = pausedUntilMs.get(objectId);
    if (untilMs === undefined) return false;
    if (untilMs > clock.now()) return true;
    pausedUntilMs.delete(objectId);
    return false;
  }

  async function settleOne(
    kind: SessionKind,
    session: OpenSession,
    content: Uint8Array,
    parent: SpanContext | undefined,
  ): Promise<void> {
    const attributes = { "tss.session.id": session.objectId };
    const consumer = { kind: SpanKind.CONSUMER, attributes };
    const span = parent && startRemoteSpan(tracer, `settle ${kind.name}`, consumer, parent);
    const settle = () => kind.settle(database, session, content);
    try {
      // The span of an unfinished session is never ended, so it is not sent.
      if (await (span ? runIn(span, settle) : settle())) span?.end();
    } catch (cause) {
      if (span) failSpan(span, failureKind(cause));
      span?.end();
      const mixUp = mixUpIn(cause);
      if (mixUp !== undefined) options.onMixUp?.(mixUp);
      log.error({ kind: kind.name, ...session, cause }, "could not settle a session; retrying later");
      pausedUntilMs.set(session.objectId, clock.now() + FAILED_INTERVALS * intervalMs);
    }
  }
}

export interface SettlerOptions {
  readonly database: Database;
  readonly reader: ChainReader;
  readonly kinds: readonly SessionKind[];
  readonly clock: Clock;
  readonly log: Log;
  /** Called for each session that the fullnode answered with another session's object. Default: none. */
  readonly onMixUp?: MixUpReport | undefined;
  /** Default: none. */
  readonly tracer?: Tracer;
  /** Calls `wake` when a transaction lands, until the returned function is called. Default: the settler only polls. */
  readonly wakeOn?: (wake: () => void) => () => void;
  /** The shortest interval between passes while a session is open. Default 100 ms. */
  readonly intervalMs?: number;
  /** Returns the pause while no session is open, which is at least `shortestMs` and ends with `wake`. Default: that. */
  readonly idleMs?: (shortestMs: number) => number;
}

/** The loop that delivers the network's results. */
export interface Settler {
  start(): void;
  wake(): void;
  stop(): Promise<void>;
}

const DEFAULT_INTERVAL_MS = 100;
/** The longest pause while the fullnode is unavailable. */
const MAX_BACKOFF_MS = 2_000;
/**
 * The pause between two reads, as a part of the time for which the newest session has been open. Its result is late by at
 * most this part, and a slow network does not cost more reads.
 */
const REST_PART = 1 / 8;
/** In intervals: the longest pause while a session is open. */
const REST_INTERVALS = 20;
/** In intervals: the shortest pause between queries while no session is open. */
const IDLE_INTERVALS = 2.5;
/** In intervals: the pause before a session that failed to settle is retried. */
const FAILED_INTERVALS = 50;
/** The maximum number of open sessions of one kind in one pass. The next pass continues after them. */
const PAGE_COUNT = 200;
/** The number of sessions that are settled at once. It leaves connections of the pool to callers. */
const AT_ONCE_COUNT = 12;
const NO_TRACES: ReadonlyMap<string, SpanContext> = new Map();
/** Sorts before every row's id. */
const FIRST = "00000000-0000-0000-0000-000000000000";
