import sql, { join, type Sql } from "sql-template-tag";
import { batchStatements } from "../platform/store/batch-statements.ts";
import { number, text } from "../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../platform/store/database.ts";
import type { OperationName } from "./operation.ts";

/** A session of the network that a row of the database waits for. */
export interface OpenSession {
  /** The id of the row. */
  readonly subjectId: string;
  /** The object on the chain that holds the session's state. */
  readonly objectId: string;
}

/**
 * Reads a page of open sessions, in the order of their rows. The kinds that read at the same time share a statement.
 *
 * @param query selects the columns `"subjectId"`, the id of the row as text, and `"objectId"`
 */
export const readOpenSessions: (db: Queryable, query: Sql) => Promise<OpenSession[]> = batchStatements({
  subjectOf: () => "",
  // The text of the statement depends on the kinds, and PostgreSQL prepares each text.
  batchMaxCount: 5,
  async run(db, queries) {
    const pages = queries.map(
      (query, index) =>
        sql`(SELECT ${index}::int AS page, "subjectId", "objectId" FROM (${query}) AS of_kind)`,
    );
    const rows = await readRows(db, join(pages, " UNION ALL "), {
      page: number,
      subjectId: text,
      objectId: text,
    });
    rows.sort((a, b) => (a.subjectId < b.subjectId ? -1 : 1));
    return queries.map((_, index) =>
      rows
        .filter(({ page }) => page === index)
        .map(({ subjectId, objectId }): OpenSession => ({ subjectId, objectId })),
    );
  },
});

/** A page of open sessions. */
export interface OpenPage {
  /** The id of the row before the page. Ids are UUIDv7 and sort by creation. */
  readonly after: string;
  readonly limit: number;
}

/**
 * One kind of session, defined by the feature that owns its rows. The settler reads the objects of all kinds in
 * batches. The kind decides what an object's state means for its row.
 */
export interface SessionKind {
  readonly name: string;
  /** The kind of operation that requests this session. */
  readonly requestedBy: OperationName;
  /** Open sessions of the network whose rows come after the given one, oldest first. */
  open(database: Database, page: OpenPage): Promise<OpenSession[]>;
  /** Reads the object's BCS. Returns true if the session has ended and its row is written. */
  settle(database: Database, session: OpenSession, content: Uint8Array): Promise<boolean>;
}
