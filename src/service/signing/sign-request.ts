import sql from "sql-template-tag";
import { boolean, bytea, type Columns, nullable, text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { hasFrozenUser } from "../users/ensure-user.ts";
import { type Reaching, withinReach } from "../users/reach.ts";
import { SHOWN_COLUMNS, SHOWN_ROW, SHOWN_TABLES, type ShownSignRequest } from "./shown-sign-request.ts";

/** Reads a sign request; undefined if it does not exist, or if a given caller does not see it. */
export async function readSignRequest(
  db: Queryable,
  { id, caller }: { readonly id: string; readonly caller?: Reaching },
): Promise<SignRequestRow | undefined> {
  const [row] = await readRows(
    db,
    sql`SELECT ${SHOWN_COLUMNS}, r.project_id AS "projectId",
               r.user_sign_message IS NOT NULL AS "wasSubmitted", r.expires_at <= clock_timestamp() AS "isExpired",
               d.public_output AS "dwalletPublicOutput", d.public_key AS "dwalletPublicKey", p.presign, d.state AS "dwalletState",
               ${hasFrozenUser(sql`d`)} AS "isUserFrozen"
        FROM ${SHOWN_TABLES}
        WHERE r.id = ${id} AND ${caller === undefined ? sql`TRUE` : withinReach(caller, sql`d`)}`,
    SIGN_REQUEST,
  );
  return row;
}

/** A sign request with the fields of its dWallet and its presign that processing needs. */
export interface SignRequestRow extends ShownSignRequest {
  readonly projectId: string;
  /** Whether the user's half has been submitted. */
  readonly wasSubmitted: boolean;
  /** By the database's clock, which alone decides. */
  readonly isExpired: boolean;
  readonly dwalletPublicOutput: Uint8Array;
  readonly dwalletPublicKey: Uint8Array | null;
  readonly presign: Uint8Array;
  readonly dwalletState: string;
  readonly isUserFrozen: boolean;
}

const SIGN_REQUEST: Columns<SignRequestRow> = {
  ...SHOWN_ROW,
  projectId: text,
  wasSubmitted: boolean,
  isExpired: boolean,
  dwalletPublicOutput: bytea,
  dwalletPublicKey: nullable(bytea),
  presign: bytea,
  dwalletState: text,
  isUserFrozen: boolean,
};
