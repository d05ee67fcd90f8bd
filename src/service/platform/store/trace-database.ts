import { SpanKind } from "@opentelemetry/api";
import { inSpan, type Tracer } from "../telemetry/tracer.ts";
import type { Database, Queryable } from "./database.ts";

/**
 * Returns the database with a span for each statement and transaction of traced work. The name of a span summarizes the
 * statement, without parameters and values.
 */
export function traceDatabase(database: Database, tracer: Tracer): Database {
  const prisma = database.prisma.$extends({
    query: {
      $allOperations: ({ model, operation, args, query }) =>
        inSpan(tracer, model === undefined ? operation : `${operation} ${model}`, CLIENT, () => query(args)),
    },
  });
  return {
    kind: database.kind,
    isPooled: database.isPooled,
    // An extended client has the same methods except unused ones, such as `$on`.
    prisma: prisma as unknown as Database["prisma"],
    ...traceSql(database, tracer),
    transaction: (work) =>
      inSpan(tracer, "transaction", CLIENT, () => database.transaction((db) => work(traceSql(db, tracer)))),
    connections: () => database.connections(),
    close: () => database.close(),
  };
}

function traceSql(db: Queryable, tracer: Tracer): Queryable {
  return {
    query: (statement, parameters) =>
      inSpan(tracer, summarize(statement), CLIENT, () => db.query(statement, parameters)),
  };
}

const CLIENT = { kind: SpanKind.CLIENT, attributes: { "db.system.name": "postgresql" } };

/**
 * Returns a summary of a statement for the name of its span, such as `UPDATE sign_request INSERT chain_operation`: each
 * operation and table once, in order, without values. Statements are constants, so each is parsed once.
 */
export function summarize(statement: string): string {
  const known = summaries.get(statement);
  if (known !== undefined) return known;
  const summary = read(statement);
  if (summaries.size < SUMMARIES_MAX_COUNT) summaries.set(statement, summary);
  return summary;
}

/**
 * Matches the operations of a statement and their tables. Its own CTEs and the words after `FOR UPDATE` are not tables.
 */
const PARTS = /\b(?:INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN) +"?([a-z_]+)"?/g;
const OWN = /\b([a-z_]+) +AS +(?:MATERIALIZED +)?\(/g;
const MAX_CHARACTERS = 120;

const summaries = new Map<string, string>();
const SUMMARIES_MAX_COUNT = 1_000;

function read(statement: string): string {
  const own = new Set([...statement.matchAll(OWN)].map(([, name]) => name));
  const parts = [...statement.matchAll(PARTS)]
    .filter(([, table]) => table !== undefined && !own.has(table))
    .map(([part, table]) => `${verbOf(part)} ${table}`);
  const summary = [...new Set(parts)].join(" ");
  return (summary || (/^\s*([A-Z]+)/.exec(statement)?.[1] ?? "SQL")).slice(0, MAX_CHARACTERS);
}

function verbOf(part: string): string {
  const [verb = ""] = part.split(" ");
  return verb === "FROM" || verb === "JOIN" ? "SELECT" : verb;
}
