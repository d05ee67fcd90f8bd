import { ServiceError } from "../errors/service-error.ts";
import type { Database } from "../store/database.ts";

/** Reads a named admin key. Must not be called inside a transaction. Throws ADMIN_KEY_NOT_FOUND. */
export async function readAdminKey(
  { prisma }: Pick<Database, "prisma">,
  adminKeyId: string,
): Promise<AdminKeyDetails> {
  const key = await prisma.adminKey.findUnique({ where: { id: adminKeyId }, select: ADMIN_KEY_FIELDS });
  if (key !== null) return key;
  throw new ServiceError("ADMIN_KEY_NOT_FOUND", "there is no admin key with this id", {
    metadata: { adminKeyId },
  });
}

/** A named admin key as the operator sees it, without the key itself and its hash. */
export interface AdminKeyDetails {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Precise to the minute. */
  readonly lastUsedAt: Date | null;
}

/** The columns of {@link AdminKeyDetails}, for a `select` of Prisma. */
export const ADMIN_KEY_FIELDS = {
  id: true,
  name: true,
  prefix: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
  lastUsedAt: true,
} as const;
