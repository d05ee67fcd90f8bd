import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import { type Holder, Holder_State, HolderSchema } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { bytea, type Columns, nullable, number, text, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import { type Reaching, withinReach } from "../../users/reach.ts";

/** A share of a dWallet for another user, with what its calls need of the dWallet and of the recipient's key. */
export interface ShareRow {
  readonly id: string;
  readonly projectId: string;
  /** The id of the dWallet's row. */
  readonly dwalletRowId: string;
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  readonly dwalletState: string;
  /** The user of the dWallet. */
  readonly ownerReference: string | null;
  readonly dwalletPublicOutput: Uint8Array | null;
  readonly curve: number;
  readonly recipientAddress: string;
  readonly recipientPublicKey: Uint8Array;
  readonly userReference: string | null;
  /** A state of the contract, or `Failed`. */
  readonly state: string;
  /** The id of the share's object. */
  readonly objectId: string | null;
  readonly txDigest: string | null;
  readonly acceptTxDigest: string | null;
  readonly createdAt: Date;
  readonly acceptedAt: Date | null;
  readonly removedAt: Date | null;
}

const SHARE_ROW: Columns<ShareRow> = {
  id: text,
  projectId: text,
  dwalletRowId: text,
  dwalletId: text,
  dwalletState: text,
  ownerReference: nullable(text),
  dwalletPublicOutput: nullable(bytea),
  curve: number,
  recipientAddress: text,
  recipientPublicKey: bytea,
  userReference: nullable(text),
  state: text,
  objectId: nullable(text),
  txDigest: nullable(text),
  acceptTxDigest: nullable(text),
  createdAt: time,
  acceptedAt: nullable(time),
  removedAt: nullable(time),
};

/**
 * Reads shares: the live ones first, and of both kinds the newest first. A recipient's live share comes before its ended
 * ones, also if the clocks of the replicas that made their ids differ.
 *
 * @param where a condition on the share `s`, its dWallet `d` and the recipient's key `k`
 */
export function readShares(db: Queryable, where: Sql, maxCount: number): Promise<ShareRow[]> {
  return readRows(
    db,
    sql`SELECT s.id, s.project_id AS "projectId", s.dwallet_id AS "dwalletRowId", d.object_id AS "dwalletId",
          d.state AS "dwalletState", d.user_reference AS "ownerReference", d.public_output AS "dwalletPublicOutput", d.curve,
          k.signer_address AS "recipientAddress", k.signer_public_key AS "recipientPublicKey",
          s.user_reference AS "userReference", s.state, s.object_id AS "objectId", s.tx_digest AS "txDigest",
          s.accept_tx_digest AS "acceptTxDigest", s.created_at AS "createdAt", s.accepted_at AS "acceptedAt",
          s.removed_at AS "removedAt"
        FROM dwallet_share s JOIN dwallet d ON d.id = s.dwallet_id JOIN encryption_key k ON k.id = s.encryption_key_id
        WHERE ${where} ORDER BY ${isLive} DESC, s.id DESC LIMIT ${maxCount}`,
    SHARE_ROW,
  );
}

/** The condition that a share is not final: its recipient has no other one. */
export const isLive = sql`s.state NOT IN ('Failed', 'NetworkVerificationRejected', 'Removed')`;

/**
 * Returns the condition that a caller sees a share `s` of a dWallet `d`: as the dWallet's owner, or as its recipient. A
 * removed recipient no longer sees it.
 */
export function seesShare(caller: Reaching): Sql {
  const { projectId, allowance } = caller;
  const { userReferences: users, dwalletIds } = allowance ?? {};
  if (users === undefined) return withinReach(caller, sql`d`);
  const named = dwalletIds === undefined ? sql`` : sql` AND d.object_id = ANY(${dwalletIds}::text[])`;
  const isRecipient = sql`(d.project_id = ${projectId}::uuid AND s.user_reference = ANY(${users}::text[])
    AND s.state <> 'Removed'${named})`;
  return sql`((${withinReach(caller, sql`d`)}) OR ${isRecipient})`;
}

/** Returns the error for a holder that the caller does not see. */
export function holderNotFound(dwalletId: string): ServiceError {
  return new ServiceError("HOLDER_NOT_FOUND", "the dWallet has no such holder", { metadata: { dwalletId } });
}

/** Encodes a share as the contract's message. */
export function encodeHolder(row: ShareRow): Holder {
  return create(HolderSchema, {
    dwalletId: row.dwalletId,
    holderAddress: row.recipientAddress,
    state: stateEnum(row.state),
    encryptedUserSecretKeyShareId: row.objectId ?? "",
    txDigest: row.txDigest ?? "",
    createTime: timestampFromDate(row.createdAt),
    ...(row.userReference !== null && { userReference: row.userReference }),
    ...(row.acceptTxDigest !== null && { acceptTxDigest: row.acceptTxDigest }),
    ...(row.acceptedAt !== null && { acceptTime: timestampFromDate(row.acceptedAt) }),
    ...(row.removedAt !== null && { removeTime: timestampFromDate(row.removedAt) }),
  });
}

function stateEnum(state: string): Holder_State {
  const value = Object.entries(Holder_State).find(([name]) => name === state)?.[1];
  return typeof value === "number" ? value : Holder_State.STATE_UNSPECIFIED;
}
