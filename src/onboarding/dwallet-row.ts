import { create } from "@bufbuild/protobuf";
import { type DWallet, DWallet_State, DWalletSchema } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Sql } from "../store/database.ts";
import { curveEnum } from "./encryption-key-row.ts";

/** A row of `dwallet` with the object id of its encryption key. */
export interface DWalletRow {
  readonly id: string;
  readonly projectId: string;
  readonly curve: number;
  readonly encryptionKeyObjectId: string;
  readonly networkEncryptionKeyId: string;
  readonly signerPublicKey: Uint8Array;
  readonly requestHash: Uint8Array;
  /** The chain's state, `Submitting`, or `Failed` when there never will be an object. */
  readonly state: string;
  readonly objectId: string | null;
  readonly encryptedUserSecretKeyShareId: string | null;
  readonly publicOutput: Uint8Array | null;
  readonly publicKey: Uint8Array | null;
  readonly txDigest: string | null;
  readonly acceptTxDigest: string | null;
}

const SELECT = `SELECT d.id, d.project_id AS "projectId", d.curve, k.object_id AS "encryptionKeyObjectId",
  d.network_encryption_key_id AS "networkEncryptionKeyId", d.signer_public_key AS "signerPublicKey",
  d.request_hash AS "requestHash", d.state, d.object_id AS "objectId",
  d.encrypted_user_secret_key_share_id AS "encryptedUserSecretKeyShareId", d.public_output AS "publicOutput",
  d.public_key AS "publicKey", d.tx_digest AS "txDigest", d.accept_tx_digest AS "acceptTxDigest"
  FROM dwallet d JOIN encryption_key k ON k.id = d.encryption_key_id`;

/** The project's dWallet with this object id. Throws DWALLET_NOT_FOUND. */
export async function findDWallet(sql: Sql, projectId: string, objectId: string): Promise<DWalletRow> {
  const [row] = await sql.query<DWalletRow>(`${SELECT} WHERE d.project_id = $1 AND d.object_id = $2`, [
    projectId,
    objectId,
  ]);
  if (row) return row;
  throw new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
    metadata: { dwalletId: objectId },
  });
}

/** The dWallet of a session identifier, whichever project it belongs to. */
export async function findDWalletOfSession(
  sql: Sql,
  network: string,
  senderAddress: string,
  sessionIdentifier: Uint8Array,
): Promise<DWalletRow | undefined> {
  const [row] = await sql.query<DWalletRow>(
    `${SELECT} WHERE d.network = $1 AND d.sender_address = $2 AND d.session_identifier = $3`,
    [network, senderAddress, sessionIdentifier],
  );
  return row;
}

/** The contract's message. */
export function encodeDWallet(row: DWalletRow): DWallet {
  return create(DWalletSchema, {
    dwalletId: row.objectId ?? "",
    curve: curveEnum(row.curve),
    state: stateEnum(row.state),
    encryptedUserSecretKeyShareId: row.encryptedUserSecretKeyShareId ?? "",
    encryptionKeyId: row.encryptionKeyObjectId,
    networkEncryptionKeyId: row.networkEncryptionKeyId,
    txDigest: row.txDigest ?? "",
    ...(row.acceptTxDigest === null ? {} : { acceptTxDigest: row.acceptTxDigest }),
    ...(row.publicOutput === null ? {} : { publicOutput: row.publicOutput }),
    ...(row.publicKey === null ? {} : { publicKey: row.publicKey }),
  });
}

function stateEnum(state: string): DWallet_State {
  const value = Object.entries(DWallet_State).find(([name]) => name === state)?.[1];
  return value ?? DWallet_State.STATE_UNSPECIFIED;
}
