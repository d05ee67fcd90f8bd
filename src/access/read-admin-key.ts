import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";

/** A named admin key, as the operator sees it: neither the key itself nor its hash. */
export interface AdminKeyDetails {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
}

/** The columns of {@link AdminKeyDetails}, from the table `admin_key`. */
export const ADMIN_KEY_COLUMNS = `id, name, prefix, created_at AS "createdAt", expires_at AS "expiresAt",
  revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"`;

/** Reads a named admin key. Throws ADMIN_KEY_NOT_FOUND. */
export async function readAdminKey(db: Queryable, adminKeyId: string): Promise<AdminKeyDetails> {
  const [key] = await db.query<AdminKeyDetails>(`SELECT ${ADMIN_KEY_COLUMNS} FROM admin_key WHERE id = $1`, [
    adminKeyId,
  ]);
  if (key !== undefined) return key;
  throw new ServiceError("ADMIN_KEY_NOT_FOUND", "there is no admin key with this id", {
    metadata: { adminKeyId },
  });
}
