import { SpanKind } from "@opentelemetry/api";
import { inSpan, type Tracer } from "../telemetry/tracer.ts";
import type { Database, Queryable } from "./database.ts";
import { summarize } from "./statement-summary.ts";

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
