import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { AdjustCreditResponse, Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { type AdminCaller, callerOf } from "../access/caller.ts";
import type { NewApiKey } from "../access/create-api-key.ts";
import type { ShownApiKey } from "../access/create-api-key-once.ts";
import type { ApiKeyDetails } from "../access/read-api-key.ts";
import type { ProjectDetails } from "../access/read-project.ts";
import type { KeyRotation, RotatedApiKey } from "../access/rotate-api-key.ts";
import type { AllowedAddresses } from "../access/set-allowed-addresses.ts";
import type { AuditSeal } from "../audit/audit-seal.ts";
import type { CreditAdjustment } from "../billing/adjust-credit.ts";
import { type Idempotency, idempotencyOf } from "../idempotency/idempotency.ts";
import type { Page, PageRequest } from "../paging/read-page.ts";
import { decodeScopes, encodeApiKey, encodeAuditEvent, encodeProject } from "./encode-account.ts";
import { encodeAuditProof, encodeAuditSeal } from "./encode-audit.ts";
import type { AuditProof } from "./get-audit-proof.ts";
import type { AuditEventRow, ListAuditEventsInput } from "./list-audit-events.ts";

/** What the calls about projects, keys, credit and the audit trail need: one operation each. */
export interface AccountOperations {
  readonly createProject: Keyed<string, ProjectDetails>;
  readonly listProjects: Listed<PageRequest, ProjectDetails>;
  readonly createApiKey: Keyed<NewApiKey, ShownApiKey>;
  readonly listApiKeys: Listed<PageRequest & { readonly projectId: string }, ApiKeyDetails>;
  readonly rotateApiKey: Keyed<KeyRotation, RotatedApiKey>;
  readonly setAllowedAddresses: (caller: AdminCaller, input: AllowedAddresses) => Promise<ApiKeyDetails>;
  readonly revokeApiKey: (caller: AdminCaller, apiKeyId: string) => Promise<ApiKeyDetails>;
  readonly adjustCredit: Keyed<CreditAdjustment, AdjustCreditResponse>;
  readonly listAuditEvents: Listed<ListAuditEventsInput, AuditEventRow>;
  readonly listAuditSeals: (input: PageRequest) => Promise<Page<AuditSeal>>;
  readonly getAuditProof: (network: string, auditEventId: bigint) => Promise<AuditProof>;
}

/** An operation that is made once for each idempotency key. */
export type Keyed<Input, Output> = (
  caller: AdminCaller,
  idempotency: Idempotency | undefined,
  input: Input,
) => Promise<Output>;
type Listed<Input, Row> = (network: string, input: Input) => Promise<Page<Row>>;

/** The calls of `tss.v1.Admin` about projects, keys, credit and the audit trail. */
export type AccountCalls = Pick<ServiceImpl<typeof Admin>, keyof AccountOperations>;

/** Implements {@link AccountCalls}. */
export function createAccountCalls(operations: AccountOperations): AccountCalls {
  return {
    async createProject({ name }, context) {
      const caller = callerOf(context, "admin");
      const project = await operations.createProject(caller, idempotencyOf(context), name);
      return { project: encodeProject(project) };
    },
    async listProjects(request, context) {
      const { network } = callerOf(context, "admin");
      const { rows, nextPageToken } = await operations.listProjects(network, request);
      return { projects: rows.map(encodeProject), nextPageToken };
    },
    async createApiKey({ projectId, name, scopes, expireTime, allowedAddresses }, context) {
      const caller = callerOf(context, "admin");
      const expiresAt = expireTime && timestampDate(expireTime);
      const key = { projectId, name, scopes: decodeScopes(scopes), expiresAt, allowedAddresses };
      const { details, plaintext } = await operations.createApiKey(caller, idempotencyOf(context), key);
      return { apiKey: encodeApiKey(details), plaintext: plaintext ?? "" };
    },
    async listApiKeys(request, context) {
      const { network } = callerOf(context, "admin");
      const { rows, nextPageToken } = await operations.listApiKeys(network, request);
      return { apiKeys: rows.map(encodeApiKey), nextPageToken };
    },
    async rotateApiKey({ apiKeyId, overlapSeconds, expireTime }, context) {
      const rotation = { apiKeyId, overlapSeconds, expiresAt: expireTime && timestampDate(expireTime) };
      const caller = callerOf(context, "admin");
      const rotated = await operations.rotateApiKey(caller, idempotencyOf(context), rotation);
      return {
        apiKey: encodeApiKey(rotated.details),
        plaintext: rotated.plaintext ?? "",
        replacedApiKey: encodeApiKey(rotated.replaced),
      };
    },
    async setAllowedAddresses({ apiKeyId, allowedAddresses }, context) {
      const key = await operations.setAllowedAddresses(callerOf(context, "admin"), {
        ...{ apiKeyId, allowedAddresses },
      });
      return { apiKey: encodeApiKey(key) };
    },
    async revokeApiKey({ apiKeyId }, context) {
      const key = await operations.revokeApiKey(callerOf(context, "admin"), apiKeyId);
      return { apiKey: encodeApiKey(key) };
    },
    async adjustCredit(request, context) {
      return operations.adjustCredit(callerOf(context, "admin"), idempotencyOf(context), request);
    },
    async listAuditEvents(request, context) {
      const { network } = callerOf(context, "admin");
      const { rows, nextPageToken } = await operations.listAuditEvents(network, {
        ...{ pageSize: request.pageSize, pageToken: request.pageToken },
        ...{ projectId: request.projectId, actor: request.actor },
      });
      return { auditEvents: rows.map(encodeAuditEvent), nextPageToken };
    },
    async listAuditSeals(request) {
      const { rows, nextPageToken } = await operations.listAuditSeals(request);
      return { auditSeals: rows.map(encodeAuditSeal), nextPageToken };
    },
    async getAuditProof({ auditEventId }, context) {
      const { network } = callerOf(context, "admin");
      return encodeAuditProof(await operations.getAuditProof(network, auditEventId));
    },
  };
}
