import type { Database } from "../store/database.ts";
import type { OperationName } from "./operation.ts";

/** A session of the network that a row of ours waits for. */
export interface OpenSession {
  /** The row. */
  readonly subjectId: string;
  /** The object on the chain whose state answers. */
  readonly objectId: string;
}

/** Which open sessions are wanted. */
export interface OpenPage {
  /** The id of a row, UUIDv7, so that ids are in the order of creation. */
  readonly after: string;
  readonly limit: number;
}

/**
 * One kind of session, handed to the settler by the feature that owns its rows. The settler reads the objects of all
 * kinds in batches and lets each kind decide what the object's state means for its row.
 */
export interface SessionKind {
  readonly name: string;
  /** The kind of operation that asks the network for such a session. */
  readonly requestedBy: OperationName;
  /** Open sessions of the network whose rows come after the given one, oldest first. */
  open(database: Database, page: OpenPage): Promise<OpenSession[]>;
  /** Looks at the object's BCS; returns true when the session ended and its row was written. */
  settle(database: Database, session: OpenSession, content: Uint8Array): Promise<boolean>;
}
