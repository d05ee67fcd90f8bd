import sql from "sql-template-tag";
import {
  bigint,
  boolean,
  bytea,
  type Columns,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/** The parts of a sign request that the contract shows. */
export interface ShownSignRequest {
  readonly id: string;
  readonly status: SignStatus;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly message: Uint8Array;
  readonly priceMicroUsd: bigint;
  readonly txDigest: string | null;
  readonly signSessionId: string | null;
  readonly signature: Uint8Array | null;
  readonly failureReason: string | null;
  readonly failureMessage: string | null;
  readonly refunded: boolean;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  /** The id of the presign's object. */
  readonly presignId: string;
}

/** The states of a sign request; see `SignRequest.Status` in the contract for how they follow each other. */
export const SIGN_STATUSES = ["prepared", "queued", "submitted", "completed", "failed"] as const;

/** One of {@link SIGN_STATUSES}. */
export type SignStatus = (typeof SIGN_STATUSES)[number];

/** The revision of a row. No revision occurs twice, and each change of a row changes one of these two. */
export type SignRevision = Pick<ShownSignRequest, "status" | "updatedAt">;

/** The columns of a {@link ShownSignRequest} in the result of a statement. */
export const SHOWN_ROW: Columns<ShownSignRequest> = {
  id: text,
  status: oneOf(...SIGN_STATUSES),
  curve: number,
  signatureAlgorithm: number,
  hashScheme: number,
  message: bytea,
  priceMicroUsd: bigint,
  txDigest: nullable(text),
  signSessionId: nullable(text),
  signature: nullable(bytea),
  failureReason: nullable(text),
  failureMessage: nullable(text),
  refunded: boolean,
  expiresAt: time,
  createdAt: time,
  updatedAt: time,
  dwalletId: text,
  presignId: text,
};

/** The select list of a {@link ShownSignRequest} from {@link SHOWN_TABLES}. */
export const SHOWN_COLUMNS = sql`r.id, r.status, r.curve, r.signature_algorithm AS "signatureAlgorithm",
       r.hash_scheme AS "hashScheme", r.message, r.price_micro_usd AS "priceMicroUsd", r.tx_digest AS "txDigest",
       r.sign_session_id AS "signSessionId", r.signature, r.failure_reason AS "failureReason",
       r.failure_message AS "failureMessage", r.refunded, r.expires_at AS "expiresAt", r.created_at AS "createdAt",
       r.updated_at AS "updatedAt", d.object_id AS "dwalletId", p.presign_id AS "presignId"`;

/** A sign request `r` with its dWallet `d` and its presign `p`. */
export const SHOWN_TABLES = sql`sign_request r JOIN dwallet d ON d.id = r.dwallet_id JOIN presign p ON p.id = r.presign_id`;

/**
 * Reads a sign request of the project for display. Undefined if the project has none with this id, or if it has not
 * changed since the given revision.
 */
export async function readShownSignRequest(
  db: Queryable,
  { id, projectId }: { readonly id: string; readonly projectId: string },
  seen?: SignRevision,
): Promise<ShownSignRequest | undefined> {
  const [row] = await readRows(
    db,
    sql`SELECT ${SHOWN_COLUMNS} FROM ${SHOWN_TABLES}
        WHERE r.id = ${id} AND r.project_id = ${projectId}
          AND (r.status, r.updated_at) IS DISTINCT FROM (${seen?.status ?? null}::text, ${seen?.updatedAt ?? null}::timestamptz)`,
    SHOWN_ROW,
  );
  return row;
}
