import sql, { type Sql } from "sql-template-tag";
import { batchStatements } from "../platform/store/batch-statements.ts";
import { boolean, bytea, type Columns, listOf, nullable, text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { hasFrozenUser } from "../users/ensure-user.ts";
import { isWithinUse, type Reaching } from "../users/reach.ts";
import { SHOWN_COLUMNS, SHOWN_ROW, type ShownSignRequest, withDWallet } from "./shown-sign-request.ts";

/**
 * Reads a sign request; undefined if it does not exist, or if a given caller does not see it. Calls that arrive together
 * share a statement.
 */
export async function readSignRequest(
  db: Queryable,
  asked: { readonly id: string; readonly caller?: Reaching },
): Promise<SignRequestRow | undefined> {
  const row = await readTogether(db, asked);
  if (row === undefined || asked.caller === undefined) return row;
  return isWithinUse(asked.caller, { ...row, objectId: row.dwalletId }) ? row : undefined;
}

const readTogether = batchStatements<
  { readonly id: string; readonly caller?: Reaching },
  SignRequestRow | undefined
>({
  subjectOf: ({ caller }) => caller?.projectId ?? SERVICE,
  async run(db, asked) {
    const ids = asked.map(({ id }) => id);
    const rows = await readRows(
      db,
      sql`SELECT ${SIGN_REQUEST_COLUMNS} FROM ${withDWallet(sql`sign_request`)} WHERE r.id = ANY(${ids}::uuid[])`,
      SIGN_REQUEST,
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    // PostgreSQL returns ids in lower case, and a caller may write them otherwise.
    return ids.map((id) => byId.get(id.toLowerCase()));
  },
});

/** The owner of the reads that no caller waits for. */
const SERVICE = "";

/** A sign request with the fields of its dWallet and its presign that processing needs. */
export interface SignRequestRow extends ShownSignRequest {
  readonly projectId: string;
  /** Whether the user's half has been submitted. */
  readonly wasSubmitted: boolean;
  /** The users of the holder whose half is held; empty for a half of the owner, and without a hold. */
  readonly heldForUsers: readonly string[];
  /** By the database's clock, which alone decides. */
  readonly isExpired: boolean;
  readonly dwalletPublicOutput: Uint8Array;
  readonly dwalletPublicKey: Uint8Array | null;
  readonly presign: Uint8Array;
  readonly dwalletState: string;
  readonly isUserFrozen: boolean;
}

/** The columns of a {@link SignRequestRow} in the result of a statement. */
export const SIGN_REQUEST: Columns<SignRequestRow> = {
  ...SHOWN_ROW,
  projectId: text,
  wasSubmitted: boolean,
  heldForUsers: listOf(text),
  isExpired: boolean,
  dwalletPublicOutput: bytea,
  dwalletPublicKey: nullable(bytea),
  presign: bytea,
  dwalletState: text,
  isUserFrozen: boolean,
};

/** The select list of a {@link SignRequestRow} from {@link withDWallet}. */
export const SIGN_REQUEST_COLUMNS: Sql = sql`${SHOWN_COLUMNS}, d.project_id AS "projectId",
       r.user_sign_message IS NOT NULL AS "wasSubmitted", r.held_for_users AS "heldForUsers",
       r.expires_at <= clock_timestamp() AS "isExpired",
       d.public_output AS "dwalletPublicOutput", d.public_key AS "dwalletPublicKey", p.presign,
       d.state AS "dwalletState", ${hasFrozenUser(sql`d`)} AS "isUserFrozen"`;
