import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ApiKey_Scope,
  type AuditEvent,
  AuditEventSchema,
  type Project,
  ProjectSchema,
} from "../../gen/proto/tss/v1/admin_pb.ts";
import type { Scope } from "../access/caller.ts";
import type { ProjectDetails } from "../access/projects.ts";
import type { AuditEventRow } from "../audit/list-audit-events.ts";

/** Encodes a project. */
export function encodeProject({ id, createdAt, ...shown }: ProjectDetails): Project {
  return create(ProjectSchema, { projectId: id, createTime: timestampFromDate(createdAt), ...shown });
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
