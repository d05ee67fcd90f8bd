import type { Database } from "../platform/store/database.ts";
import type { OperationName } from "./operation.ts";

/** A session of the network that a row of the database waits for. */
export interface OpenSession {
  /** The id of the row. */
  readonly subjectId: string;
  /** The object on the chain that holds the session's state. */
  readonly objectId: string;
}

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
