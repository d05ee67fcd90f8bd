import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Admin,
  ApiKey_Scope,
  GetAuditProofResponseSchema,
  type Project,
  ProjectSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { encodeAdminKey, encodeApiKey } from "../../access/account-service.ts";
import { decodeLimits } from "../../access/allowances/allowance-message.ts";
import { callerOf, type Scope } from "../../access/caller.ts";
import { createAdminKey, listAdminKeys, revokeAdminKey } from "../../access/keys/admin-keys.ts";
import {
  createApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
  setAllowedAddresses,
  setAllowedOrigins,
} from "../../access/keys/api-keys.ts";
import type { AdminKeyLookup, ApiKeyLookup } from "../../access/keys/stored-keys.ts";
import {
  createProject,
  getProject,
  listProjects,
  type ProjectDetails,
  requireProject,
} from "../../access/projects.ts";
import { encodeAuditEvent, encodeAuditProof, encodeAuditSeal } from "../../audit/encode-audit.ts";
import { getAuditProof, listAuditEvents, listAuditSeals } from "../../audit/list-audit-events.ts";
import { adjustCredit } from "../../billing/adjust-credit.ts";
import { idempotencyOf } from "../../platform/idempotency/idempotency.ts";
import type { Database } from "../../platform/store/database.ts";

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
    async createApiKey({ projectId, name, scopes, expireTime, allowance, ...places }, context) {
      const caller = callerOf(context, "admin");
      const { allowedAddresses, allowedOrigins } = places;
      const key = {
        projectId,
        name,
        allowedAddresses,
        allowedOrigins,
        scopes: decodeScopes(scopes),
        expiresAt: expireTime && timestampDate(expireTime),
        limits: decodeLimits(allowance),
      };
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
    async setAllowedOrigins({ apiKeyId, allowedOrigins }, context) {
      const caller = callerOf(context, "admin");
      const change = { apiKeyId, allowedOrigins };
      return { apiKey: encodeApiKey(await setAllowedOrigins({ db: database, lookup }, caller, change)) };
    },
    async revokeApiKey({ apiKeyId }, context) {
      const caller = callerOf(context, "admin");
      return { apiKey: encodeApiKey(await revokeApiKey({ db: database, lookup }, caller, apiKeyId)) };
    },
    async adjustCredit(request, context) {
      return adjustCredit(database, callerOf(context, "admin"), idempotencyOf(context), request);
    },
    async listAuditEvents({ startTime, endTime, ...request }, context) {
      const { networks } = callerOf(context, "admin");
      if (request.projectId !== undefined) await requireProject(database, networks, request.projectId);
      const { rows, nextPageToken } = await listAuditEvents(database, networks, {
        pageSize: request.pageSize,
        pageToken: request.pageToken,
        projectId: request.projectId,
        actor: request.actor,
        action: request.action,
        startTime: startTime && timestampDate(startTime),
        endTime: endTime && timestampDate(endTime),
      });
      return { auditEvents: rows.map(encodeAuditEvent), nextPageToken };
    },
    async listAuditSeals(request) {
      const { rows, nextPageToken } = await listAuditSeals(database, request);
      return { auditSeals: rows.map(encodeAuditSeal), nextPageToken };
    },
    async getAuditProof({ auditEventId }, context) {
      const { networks } = callerOf(context, "admin");
      const proof = await getAuditProof(database, networks, auditEventId);
      return create(GetAuditProofResponseSchema, encodeAuditProof(proof));
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
  | "setAllowedOrigins"
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

/** Encodes a project. */
function encodeProject({ id, createdAt, ...shown }: ProjectDetails): Project {
  return create(ProjectSchema, { projectId: id, createTime: timestampFromDate(createdAt), ...shown });
}

/** Returns the scopes of a validated request, which never contains SCOPE_UNSPECIFIED. */
function decodeScopes(scopes: readonly ApiKey_Scope[]): Scope[] {
  const names = Object.keys(ApiKey_Scope) as (keyof typeof ApiKey_Scope)[];
  return names.filter((name): name is Scope => scopes.includes(ApiKey_Scope[name]));
}
