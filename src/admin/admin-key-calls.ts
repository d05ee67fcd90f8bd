import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { createAdminKey, listAdminKeys, revokeAdminKey } from "../access/admin-keys.ts";
import { callerOf } from "../access/caller.ts";
import { encodeAdminKey } from "../access/encode-keys.ts";
import type { AdminKeyLookup } from "../access/stored-keys.ts";
import { idempotencyOf } from "../idempotency/idempotency.ts";
import type { Database } from "../store/database.ts";

/** Implements {@link AdminKeyCalls}. */
export function createAdminKeyCalls({ database, lookup }: AdminKeyCallsDeps): AdminKeyCalls {
  return {
    async createAdminKey({ name, expireTime }, context) {
      const caller = callerOf(context, "admin");
      const key = { name, expiresAt: expireTime && timestampDate(expireTime) };
      const { details, plaintext } = await createAdminKey(database, caller, idempotencyOf(context), key);
      return { adminKey: encodeAdminKey(details), plaintext: plaintext ?? "" };
    },
    async listAdminKeys(request) {
      const { rows, nextPageToken } = await listAdminKeys(database, request);
      return { adminKeys: rows.map(encodeAdminKey), nextPageToken };
    },
    async revokeAdminKey({ adminKeyId }, context) {
      const caller = callerOf(context, "admin");
      return {
        adminKey: encodeAdminKey(await revokeAdminKey({ database, lookup }, caller, adminKeyId)),
      };
    },
  };
}

/** The calls of `tss.v1.Admin` about named admin keys. */
export type AdminKeyCalls = Pick<
  ServiceImpl<typeof Admin>,
  "createAdminKey" | "listAdminKeys" | "revokeAdminKey"
>;

/** Dependencies of {@link createAdminKeyCalls}. */
export interface AdminKeyCallsDeps {
  readonly database: Database;
  /** The cache, which evicts a revoked key at once. */
  readonly lookup: Pick<AdminKeyLookup, "forget">;
}
