import { type SpanContext, SpanKind } from "@opentelemetry/api";
import sql from "sql-template-tag";
import { text } from "../../platform/store/columns.ts";
import { type Database, readRows } from "../../platform/store/database.ts";
import {
  failSpan,
  failureKind,
  inSpan,
  isTracing,
  parseTraceContext,
  runIn,
  startRemoteSpan,
  type Tracer,
} from "../../platform/telemetry/tracer.ts";
import type { OpenSession, SessionKind } from "../session.ts";
import type { Lane } from "./lane.ts";
import type { QueuedOperation } from "./outbox.ts";

/** Sets attributes on the spans of a transaction. */
export type TellSpans = (attributes: Readonly<Record<string, string>>) => void;

/**
 * Runs the work of one transaction in spans. Each operation of a traced call has a span in that call's trace. The
 * transaction's own span is in the first of these traces and linked to all of them.
 */
export async function inOperationSpans<T>(
  tracer: Tracer,
  laneId: string,
  operations: readonly QueuedOperation[],
  work: (tell: TellSpans) => Promise<T>,
): Promise<T> {
  const spans = operations.flatMap(({ id, kind, traceParent }) => {
    const parent = parseTraceContext(traceParent);
    if (parent === undefined) return [];
    const attributes = { "tss.operation.id": id, "tss.operation.kind": kind, "tss.lane": laneId };
    const span = startRemoteSpan(tracer, `submit ${kind}`, { kind: SpanKind.CONSUMER, attributes }, parent);
    return span.isRecording() ? [span] : [];
  });
  const [first] = spans;
  if (first === undefined) return work(() => {});
  const links = spans.map((span) => ({ context: span.spanContext() }));
  const attributes = { "tss.lane": laneId, "tss.operations": operations.length };
  try {
    return await runIn(first, () =>
      inSpan(tracer, "transaction on the chain", { links, attributes }, (transaction) =>
        work((news) => {
          for (const span of [transaction, ...spans]) span.setAttributes(news);
        }),
      ),
    );
  } catch (error) {
    for (const span of spans) failSpan(span, failureKind(error));
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

/** Returns the lane with a span for each of its calls to the fullnode. */
export function traceLane(lane: Lane, tracer: Tracer): Lane {
  if (!isTracing(tracer)) return lane;
  return {
    ...lane,
    build: (...block) =>
      inSpan(tracer, "build transaction", { kind: SpanKind.CLIENT }, () => lane.build(...block)),
    send: (stored) =>
      inSpan(tracer, "execute transaction", { kind: SpanKind.CLIENT }, () => lane.send(stored)),
  };
}

/**
 * Returns the trace contexts of the calls that caused open sessions, by the id of the waiting row. Untraced calls are
 * absent.
 */
export async function readSessionTraces(
  database: Database,
  open: readonly { readonly kind: SessionKind; readonly session: OpenSession }[],
): Promise<ReadonlyMap<string, SpanContext>> {
  const kinds = open.map(({ kind }) => kind.requestedBy);
  const subjectIds = open.map(({ session }) => session.subjectId);
  const rows = await readRows(
    database,
    sql`SELECT subject_id AS "subjectId", trace_parent AS "traceParent" FROM chain_operation
        WHERE (kind, subject_id) IN (SELECT * FROM unnest(${kinds}::text[], ${subjectIds}::uuid[]))
          AND trace_parent IS NOT NULL`,
    { subjectId: text, traceParent: text },
  );
  return new Map(
    rows.flatMap(({ subjectId, traceParent }) => {
      const context = parseTraceContext(traceParent);
      return context === undefined ? [] : [[subjectId, context] as const];
    }),
  );
}
