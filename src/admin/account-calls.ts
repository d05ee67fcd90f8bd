import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import {
  createApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  setAllowedAddresses,
} from "../access/api-keys.ts";
import { callerOf } from "../access/caller.ts";
import { encodeApiKey } from "../access/encode-keys.ts";
import { createProject, getProject, listProjects, requireProject } from "../access/projects.ts";
import type { ApiKeyLookup } from "../access/stored-keys.ts";
import { getAuditProof } from "../audit/get-audit-proof.ts";
import { listAuditEvents, listAuditSeals } from "../audit/list-audit-events.ts";
import { adjustCredit } from "../billing/adjust-credit.ts";
import { idempotencyOf } from "../idempotency/idempotency.ts";
import type { Database } from "../store/database.ts";
import { decodeScopes, encodeAuditEvent, encodeProject } from "./encode-account.ts";
import { encodeAuditProof, encodeAuditSeal } from "./encode-audit.ts";

/** Implements {@link AccountCalls}. */
export function createAccountCalls({ database, lookup }: AccountCallsDeps): AccountCalls {
  return {
    async createProject({ name }, context) {
      const caller = callerOf(context, "admin");
      const project = await createProject(database, caller, idempotencyOf(context), name);
      return { project: encodeProject(project) };
    },
    async listProjects(request, context) {
      const { networks } = callerOf(context, "admin");
      const { rows, nextPageToken } = await listProjects(database, networks, request);
      return { projects: rows.map(encodeProject), nextPageToken };
    },
    async getProject({ projectId }, context) {
      const { networks } = callerOf(context, "admin");
      return { project: encodeProject(await getProject(database, networks, projectId)) };
    },
    async createApiKey({ projectId, name, scopes, expireTime, allowedAddresses }, context) {
      const caller = callerOf(context, "admin");
      const expiresAt = expireTime && timestampDate(expireTime);
      const key = { projectId, name, scopes: decodeScopes(scopes), expiresAt, allowedAddresses };
      const { details, plaintext } = await createApiKey(database, caller, idempotencyOf(context), key);
      return { apiKey: encodeApiKey(details), plaintext: plaintext ?? "" };
    },
    async listApiKeys(request, context) {
      const { networks } = callerOf(context, "admin");
      const { rows, nextPageToken } = await listApiKeys(database, networks, request);
      return { apiKeys: rows.map(encodeApiKey), nextPageToken };
    },
    async rotateApiKey({ apiKeyId, overlapSeconds, expireTime }, context) {
      const caller = callerOf(context, "admin");
      const rotation = { apiKeyId, overlapSeconds, expiresAt: expireTime && timestampDate(expireTime) };
      const rotated = await rotateApiKey({ database, lookup }, caller, idempotencyOf(context), rotation);
      return {
        apiKey: encodeApiKey(rotated.details),
        plaintext: rotated.plaintext ?? "",
        replacedApiKey: encodeApiKey(rotated.replaced),
      };
    },
    async setAllowedAddresses({ apiKeyId, allowedAddresses }, context) {
      const caller = callerOf(context, "admin");
      const change = { apiKeyId, allowedAddresses };
      return { apiKey: encodeApiKey(await setAllowedAddresses({ db: database, lookup }, caller, change)) };
    },
    async revokeApiKey({ apiKeyId }, context) {
      const caller = callerOf(context, "admin");
      return { apiKey: encodeApiKey(await revokeApiKey({ db: database, lookup }, caller, apiKeyId)) };
    },
    async adjustCredit(request, context) {
      return adjustCredit(database, callerOf(context, "admin"), idempotencyOf(context), request);
    },
    async listAuditEvents({ pageSize, pageToken, projectId, actor }, context) {
      const { networks } = callerOf(context, "admin");
      if (projectId !== undefined) await requireProject(database, networks, projectId);
      const filter = { pageSize, pageToken, projectId, actor };
      const { rows, nextPageToken } = await listAuditEvents(database, networks, filter);
      return { auditEvents: rows.map(encodeAuditEvent), nextPageToken };
    },
    async listAuditSeals(request) {
      const { rows, nextPageToken } = await listAuditSeals(database, request);
      return { auditSeals: rows.map(encodeAuditSeal), nextPageToken };
    },
    async getAuditProof({ auditEventId }, context) {
      const { networks } = callerOf(context, "admin");
      return encodeAuditProof(await getAuditProof(database, networks, auditEventId));
    },
  };
}

/** The calls of `tss.v1.Admin` about projects, keys, credit and the audit trail. */
export type AccountCalls = Pick<
  ServiceImpl<typeof Admin>,
  | "createProject"
  | "listProjects"
  | "getProject"
  | "createApiKey"
  | "listApiKeys"
  | "rotateApiKey"
  | "setAllowedAddresses"
  | "revokeApiKey"
  | "adjustCredit"
  | "listAuditEvents"
  | "listAuditSeals"
  | "getAuditProof"
>;

/** Dependencies of {@link createAccountCalls}. */
export interface AccountCallsDeps {
  readonly database: Database;
  /** The cache, which evicts a changed key at once. */
  readonly lookup: Pick<ApiKeyLookup, "forget">;
}
