import { create } from "@bufbuild/protobuf";
import { type EncryptionKey, EncryptionKeySchema } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../gen/proto/tss/v1/types_pb.ts";
import { curveName } from "../protocol/algorithms.ts";
import type { Sql } from "../store/database.ts";

/** A row of `encryption_key`. */
export interface EncryptionKeyRow {
  readonly id: string;
  readonly curve: number;
  readonly signerAddress: string;
  readonly encryptionKey: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  readonly objectId: string | null;
  readonly txDigest: string | null;
}

/** The columns of {@link EncryptionKeyRow}. */
export const ENCRYPTION_KEY_COLUMNS = `id, curve, signer_address AS "signerAddress", encryption_key AS "encryptionKey",
  signer_public_key AS "signerPublicKey", object_id AS "objectId", tx_digest AS "txDigest"`;

/** The project's key of a signer on a curve. */
export async function findKeyOfSigner(
  sql: Sql,
  projectId: string,
  curve: number,
  signerAddress: string,
): Promise<EncryptionKeyRow | undefined> {
  const [row] = await sql.query<EncryptionKeyRow>(
    `SELECT ${ENCRYPTION_KEY_COLUMNS} FROM encryption_key WHERE project_id = $1 AND curve = $2 AND signer_address = $3`,
    [projectId, curve, signerAddress],
  );
  return row;
}

/** The project's key with this object id. */
export async function findKeyByObject(
  sql: Sql,
  projectId: string,
  objectId: string,
): Promise<EncryptionKeyRow | undefined> {
  const [row] = await sql.query<EncryptionKeyRow>(
    `SELECT ${ENCRYPTION_KEY_COLUMNS} FROM encryption_key WHERE project_id = $1 AND object_id = $2`,
    [projectId, objectId],
  );
  return row;
}

/** The contract's message of a registered key. */
export function encodeEncryptionKey(row: EncryptionKeyRow): EncryptionKey {
  if (row.objectId === null) throw new Error(`encryption key ${row.id} is not registered`);
  return create(EncryptionKeySchema, {
    encryptionKeyId: row.objectId,
    curve: curveEnum(row.curve),
    signerAddress: row.signerAddress,
    ...(row.txDigest === null ? {} : { txDigest: row.txDigest }),
  });
}

/** The contract's enum of the chain's integer. */
export function curveEnum(curveNumber: number): Curve {
  const name = curveName(curveNumber);
  if (name === undefined) throw new Error(`there is no curve ${curveNumber}`);
  return Curve[name];
}
