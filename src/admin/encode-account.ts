import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type AdminKey,
  AdminKeySchema,
  type ApiKey,
  ApiKey_Scope,
  ApiKeySchema,
  type AuditEvent,
  AuditEventSchema,
  type Project,
  ProjectSchema,
} from "../../gen/proto/tss/v1/admin_pb.ts";
import type { Scope } from "../access/caller.ts";
import type { AdminKeyDetails } from "../access/read-admin-key.ts";
import type { ApiKeyDetails } from "../access/read-api-key.ts";
import type { ProjectDetails } from "../access/read-project.ts";
import type { AuditEventRow } from "../audit/list-audit-events.ts";

/** Encodes a project. */
export function encodeProject({ id, createdAt, ...shown }: ProjectDetails): Project {
  return create(ProjectSchema, { projectId: id, createTime: timestampFromDate(createdAt), ...shown });
}

/** Encodes an API key. */
export function encodeApiKey(key: ApiKeyDetails): ApiKey {
  const { id, projectId, name, prefix, scopes, allowedAddresses, rotatedFrom, replacedBy } = key;
  return create(ApiKeySchema, {
    apiKeyId: id,
    ...{ projectId, name, prefix },
    scopes: scopes.map((scope) => ApiKey_Scope[scope]),
    allowedAddresses: [...allowedAddresses],
    ...keyTimes(key),
    ...(rotatedFrom !== null && { rotatedFrom }),
    ...(replacedBy !== null && { replacedBy }),
  });
}

/** Encodes a named admin key. */
export function encodeAdminKey(key: AdminKeyDetails): AdminKey {
  const { id, name, prefix } = key;
  return create(AdminKeySchema, { adminKeyId: id, name, prefix, ...keyTimes(key) });
}

/** Returns the scopes of a validated request, which never contains SCOPE_UNSPECIFIED. */
export function decodeScopes(scopes: readonly ApiKey_Scope[]): Scope[] {
  const names = Object.keys(ApiKey_Scope) as (keyof typeof ApiKey_Scope)[];
  return names.filter((name): name is Scope => scopes.includes(ApiKey_Scope[name]));
}

/** Encodes an event of the audit trail. */
export function encodeAuditEvent(row: AuditEventRow): AuditEvent {
  const { id, createdAt, projectId, requestId, address, sequence, ...shown } = row;
  return create(AuditEventSchema, {
    auditEventId: id,
    createTime: timestampFromDate(createdAt),
    projectId: projectId ?? "",
    requestId: requestId ?? "",
    address: address ?? "",
    ...(sequence !== null && { sequence }),
    ...shown,
  });
}

function keyTimes({
  createdAt,
  expiresAt,
  revokedAt,
  lastUsedAt,
}: Pick<AdminKeyDetails, "createdAt" | "expiresAt" | "revokedAt" | "lastUsedAt">) {
  return {
    createTime: timestampFromDate(createdAt),
    ...time("expireTime", expiresAt),
    ...time("revokeTime", revokedAt),
    ...time("lastUseTime", lastUsedAt),
  };
}

function time<Name extends string>(name: Name, date: Date | null): { [N in Name]?: Timestamp } {
  return date === null ? {} : ({ [name]: timestampFromDate(date) } as { [N in Name]: Timestamp });
}
