import type { Sql } from "../store/database.ts";

/** The states of a sign request; see `SignRequest.Status` in the contract for how they follow each other. */
export type SignStatus = "prepared" | "queued" | "submitted" | "completed" | "failed";

/** A sign request with what it needs of its dWallet and its presign. */
export interface SignRequestRow {
  readonly id: string;
  readonly projectId: string;
  readonly status: SignStatus;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly message: Uint8Array;
  readonly priceMicroUsd: bigint;
  readonly requestHash: Uint8Array;
  /** Whether the user's half was ever submitted. */
  readonly wasSubmitted: boolean;
  readonly txDigest: string | null;
  readonly signSessionId: string | null;
  readonly signature: Uint8Array | null;
  readonly failureReason: string | null;
  readonly failureMessage: string | null;
  readonly refunded: boolean;
  readonly expiresAt: Date;
  /** By the database's clock, which decides alone. */
  readonly isExpired: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The dWallet's object on the chain. */
  readonly dwalletId: string;
  readonly dwalletPublicOutput: Uint8Array;
  readonly dwalletPublicKey: Uint8Array | null;
  /** The presign's object on the chain. */
  readonly presignId: string;
  readonly presign: Uint8Array;
}

/** Which sign request to read. */
export type SignRequestName =
  | { readonly id: string; readonly projectId?: string }
  | { readonly projectId: string; readonly idempotencyKey: string };

/** Reads a sign request; undefined if there is none, or none of the project. */
export async function readSignRequest(sql: Sql, name: SignRequestName): Promise<SignRequestRow | undefined> {
  const [row] =
    "idempotencyKey" in name
      ? await sql.query<SignRequestRow>(`${SELECT} WHERE r.project_id = $1 AND r.idempotency_key = $2`, [
          name.projectId,
          name.idempotencyKey,
        ])
      : await sql.query<SignRequestRow>(
          `${SELECT} WHERE r.id = $1 AND r.project_id = coalesce($2::uuid, r.project_id)`,
          [name.id, name.projectId ?? null],
        );
  return row;
}

const SELECT = `
SELECT r.id, r.project_id AS "projectId", r.status, r.curve, r.signature_algorithm AS "signatureAlgorithm",
       r.hash_scheme AS "hashScheme", r.message, r.price_micro_usd AS "priceMicroUsd",
       r.request_hash AS "requestHash", r.user_sign_message IS NOT NULL AS "wasSubmitted",
       r.tx_digest AS "txDigest", r.sign_session_id AS "signSessionId", r.signature,
       r.failure_reason AS "failureReason", r.failure_message AS "failureMessage", r.refunded,
       r.expires_at AS "expiresAt", r.expires_at <= clock_timestamp() AS "isExpired",
       r.created_at AS "createdAt", r.updated_at AS "updatedAt",
       d.object_id AS "dwalletId", d.public_output AS "dwalletPublicOutput", d.public_key AS "dwalletPublicKey",
       p.presign_id AS "presignId", p.presign
FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id JOIN presign p ON p.id = r.presign_id`;
