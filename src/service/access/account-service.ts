import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Account, type AccountKey, AccountKeySchema } from "../../../gen/proto/tss/v1/account_pb.ts";
import {
  type AdminKey,
  AdminKeySchema,
  type ApiKey,
  ApiKey_Scope,
  ApiKeySchema,
} from "../../../gen/proto/tss/v1/admin_pb.ts";
import type { Database } from "../platform/store/database.ts";
import { encodeLimits } from "./allowances/allowance-message.ts";
import { readBudgetLeft } from "./allowances/allowances.ts";
import { callerOf } from "./caller.ts";
import type { AdminKeyDetails } from "./keys/admin-keys.ts";
import type { ApiKeyDetails } from "./keys/api-key-row.ts";
import { listApiKeys } from "./keys/api-keys.ts";
import { readProject } from "./projects.ts";

/** Implements `tss.v1.Account`. */
export function createAccountService({
  database,
}: {
  readonly database: Database;
}): ServiceImpl<typeof Account> {
  return {
    async getAccount(_request, context) {
      const { projectId, apiKeyId, scopes, allowance, session } = callerOf(context, "project");
      const { name, network, createdAt } = await readProject(database, projectId);
      return {
        projectId,
        projectName: name,
        network,
        createTime: timestampFromDate(createdAt),
        scopes: [...scopes],
        ...(session === undefined
          ? { apiKeyId }
          : {
              session: {
                sessionId: apiKeyId,
                userReference: session.userReference,
                expireTime: timestampFromDate(session.expiresAt),
                origins: [...session.origins],
              },
            }),
        ...encodeLimits(allowance, allowance?.budget && (await readBudgetLeft(database, allowance.id))),
      };
    },
    async listAccountKeys(request, context) {
      const { projectId, network, session } = callerOf(context, "project");
      // The keys are the project's, and none is its user's.
      if (session !== undefined) return { accountKeys: [] };
      const { rows, nextPageToken } = await listApiKeys(database, [network], { ...request, projectId });
      return { accountKeys: rows.map(encodeAccountKey), nextPageToken };
    },
  };
}

/** Encodes a project's key for the operator. */
export function encodeApiKey(key: ApiKeyDetails): ApiKey {
  const scopes = key.scopes.map((scope) => ApiKey_Scope[scope]);
  return create(ApiKeySchema, { ...shownParts(key), projectId: key.projectId, scopes });
}

/** Encodes a project's key for the project. */
function encodeAccountKey(key: ApiKeyDetails): AccountKey {
  return create(AccountKeySchema, { ...shownParts(key), scopes: [...key.scopes] });
}

/** Encodes a named admin key. */
export function encodeAdminKey(key: AdminKeyDetails): AdminKey {
  const { id, name, prefix } = key;
  return create(AdminKeySchema, { adminKeyId: id, name, prefix, ...keyTimes(key) });
}

function shownParts(key: ApiKeyDetails) {
  const {
    id,
    name,
    prefix,
    allowedAddresses,
    allowedOrigins,
    rotatedFrom,
    replacedBy,
    allowance,
    budgetLeft,
  } = key;
  return {
    apiKeyId: id,
    name,
    prefix,
    allowedAddresses: [...allowedAddresses],
    allowedOrigins: [...allowedOrigins],
    ...keyTimes(key),
    ...(rotatedFrom !== null && { rotatedFrom }),
    ...(replacedBy !== null && { replacedBy }),
    ...encodeLimits(allowance, budgetLeft),
  };
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
