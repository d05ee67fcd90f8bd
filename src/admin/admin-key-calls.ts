import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { type AdminCaller, callerOf } from "../access/caller.ts";
import type { NewAdminKey } from "../access/create-admin-key.ts";
import type { ShownAdminKey } from "../access/create-admin-key-once.ts";
import type { AdminKeyDetails } from "../access/read-admin-key.ts";
import { idempotencyOf } from "../idempotency/idempotency.ts";
import type { Page, PageRequest } from "../paging/read-page.ts";
import type { Keyed } from "./account-calls.ts";
import { encodeAdminKey } from "./encode-account.ts";

/** What the calls about named admin keys need: one operation each. */
export interface AdminKeyOperations {
  readonly createAdminKey: Keyed<NewAdminKey, ShownAdminKey>;
  readonly listAdminKeys: (request: PageRequest) => Promise<Page<AdminKeyDetails>>;
  readonly revokeAdminKey: (caller: AdminCaller, adminKeyId: string) => Promise<AdminKeyDetails>;
}

/** The calls of `tss.v1.Admin` about named admin keys. */
export type AdminKeyCalls = Pick<ServiceImpl<typeof Admin>, keyof AdminKeyOperations>;

/** Implements {@link AdminKeyCalls}. */
export function createAdminKeyCalls(operations: AdminKeyOperations): AdminKeyCalls {
  return {
    async createAdminKey({ name, expireTime }, context) {
      const key = { name, expiresAt: expireTime && timestampDate(expireTime) };
      const caller = callerOf(context, "admin");
      const { details, plaintext } = await operations.createAdminKey(caller, idempotencyOf(context), key);
      return { adminKey: encodeAdminKey(details), plaintext: plaintext ?? "" };
    },
    async listAdminKeys(request) {
      const { rows, nextPageToken } = await operations.listAdminKeys(request);
      return { adminKeys: rows.map(encodeAdminKey), nextPageToken };
    },
    async revokeAdminKey({ adminKeyId }, context) {
      const key = await operations.revokeAdminKey(callerOf(context, "admin"), adminKeyId);
      return { adminKey: encodeAdminKey(key) };
    },
  };
}
