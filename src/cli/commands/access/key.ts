import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ApiKey,
  ApiKey_Scope,
  ApiKey_ScopeSchema,
  ApiKeySchema,
  CreateApiKeyResponseSchema,
  RevokeApiKeyResponseSchema,
  RotateApiKeyResponseSchema,
  SetAllowedAddressesResponseSchema,
  SetAllowedOriginsResponseSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { DEFAULT_SCOPES, SCOPES } from "../../../service/access/caller.ts";
import {
  allowanceOf,
  formatBudgetLeft,
  formatLimits,
  LIMIT_OPTIONS,
} from "../../command-line/limit-options.ts";
import {
  addresses,
  choicesOf,
  defaulted,
  duration,
  moment,
  nonEmptyText,
  operand,
  optional,
  origins,
  required,
  uuid,
} from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatEnum, formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

/** Returns the plaintext key. A repeated call has none. */
export function formatPlaintext(plaintext: string): string {
  return plaintext === "" ? "(shown only by the first call)" : `${plaintext} (shown once)`;
}

/** The scopes of a project's first key. */
export const FIRST_SCOPES: ApiKey_Scope[] = DEFAULT_SCOPES.map((scope) => ApiKey_Scope[scope]);

const OPERATOR = { caller: "operator", isDirect: true } as const;
const KEY_ID = operand("<key-id>", "the key's id, as `tss key list` shows it", uuid);
const ADDRESSES = "the allowed IP addresses and CIDR blocks, separated by commas";
const EXPIRES = optional("<time>", "the expiry, such as 2027-01-31 or 90d; default never", moment);

const create = serviceCommand({
  ...OPERATOR,
  isKeyed: true,
  summary: "create an API key for a project and show it once",
  options: {
    project: required("<id>", "the project's id", uuid),
    name: required("<name>", "a name for people; it need not be unique", nonEmptyText),
    scopes: defaulted("<list>", "its permissions", choicesOf(SCOPES), DEFAULT_SCOPES.join(",")),
    expires: EXPIRES,
    addresses: optional("<list>", `${ADDRESSES}; default any address`, addresses),
    origin: optional("<list>", "the web origins whose pages may send it, or *; default none", origins),
    ...LIMIT_OPTIONS,
  },
  call({ admin }, values, once) {
    const { project: projectId, name, scopes, expires } = values;
    const { addresses: allowedAddresses = [], origin: allowedOrigins = [] } = values;
    const allowance = allowanceOf(values);
    return admin.createApiKey(
      {
        projectId,
        name,
        allowedAddresses,
        allowedOrigins,
        scopes: scopes.map((scope) => ApiKey_Scope[scope]),
        ...(expires && { expireTime: timestampFromDate(expires) }),
        ...(allowance && { allowance }),
      },
      once,
    );
  },
  reply: CreateApiKeyResponseSchema,
  show: ({ apiKey, plaintext }) =>
    formatPairs([...describeKey(apiKey!), ["api key", formatPlaintext(plaintext)]]),
});

const list = listCommand({
  ...OPERATOR,
  summary: "list a project's keys, newest first, including revoked and expired ones",
  options: { project: required("<id>", "the project's id", uuid) },
  async read({ admin }, { project: projectId }, page) {
    const { apiKeys: rows, nextPageToken } = await admin.listApiKeys({ projectId, ...page });
    return { rows, nextPageToken };
  },
  row: ApiKeySchema,
  columns: [
    { title: "KEY", of: ({ apiKeyId }) => apiKeyId },
    { title: "PREFIX", of: ({ prefix }) => prefix },
    { title: "SCOPES", of: formatScopes },
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "LAST USE", of: ({ lastUseTime }) => formatTime(lastUseTime, "never") },
    { title: "EXPIRES", of: ({ expireTime }) => formatTime(expireTime, "never") },
    { title: "REVOKED", of: ({ revokeTime }) => formatTime(revokeTime, "no") },
    { title: "ADDRESSES", of: formatAddresses },
    { title: "ORIGINS", of: formatOrigins },
    { title: "LIMITS", of: formatLimits },
    { title: "BUDGET LEFT", of: formatBudgetLeft },
    { title: "NAME", of: ({ name }) => name },
  ],
});

const rotate = serviceCommand({
  ...OPERATOR,
  isKeyed: true,
  summary: "replace a key and show the new one once; the old key works for a while longer",
  options: {
    key: KEY_ID,
    overlap: optional(
      "<duration>",
      "how long the old key stays valid, such as 12h; default 1d",
      duration(30),
    ),
    expires: optional("<time>", "the expiry of the new key; default that of the old one", moment),
  },
  call: ({ admin }, { key: apiKeyId, overlap, expires }, once) =>
    admin.rotateApiKey(
      {
        apiKeyId,
        ...(overlap !== undefined && { overlapSeconds: overlap }),
        ...(expires && { expireTime: timestampFromDate(expires) }),
      },
      once,
    ),
  reply: RotateApiKeyResponseSchema,
  show: ({ apiKey, plaintext, replacedApiKey }) =>
    formatPairs([
      ...describeKey(apiKey!),
      ["api key", formatPlaintext(plaintext)],
      ["old key", `${replacedApiKey?.apiKeyId}, until ${formatTime(endOf(replacedApiKey), "revoked")}`],
    ]),
});

const allowAddresses = serviceCommand({
  ...OPERATOR,
  summary: "set the allowed addresses of a key",
  options: {
    key: KEY_ID,
    addresses: required("<list>", `${ADDRESSES}; "any" allows every address`, (value) =>
      value === "any" ? [] : addresses(value),
    ),
  },
  call: ({ admin }, { key: apiKeyId, addresses: allowedAddresses }) =>
    admin.setAllowedAddresses({ apiKeyId, allowedAddresses }),
  reply: SetAllowedAddressesResponseSchema,
  show: ({ apiKey }) => formatPairs(describeKey(apiKey!)),
});

const allowOrigins = serviceCommand({
  ...OPERATOR,
  summary: "set the web origins whose pages may send a key; replicas apply them within five seconds",
  options: {
    key: KEY_ID,
    origin: required("<list>", 'the origins, or * for every one; "none" refuses it in pages', (value) =>
      value === "none" ? [] : origins(value),
    ),
  },
  call: ({ admin }, { key: apiKeyId, origin: allowedOrigins }) =>
    admin.setAllowedOrigins({ apiKeyId, allowedOrigins }),
  reply: SetAllowedOriginsResponseSchema,
  show: ({ apiKey }) => formatPairs(describeKey(apiKey!)),
});

const revoke = serviceCommand({
  ...OPERATOR,
  summary: "revoke a key permanently; replicas refuse it within five seconds",
  options: { key: KEY_ID },
  call: ({ admin }, { key: apiKeyId }) => admin.revokeApiKey({ apiKeyId }),
  reply: RevokeApiKeyResponseSchema,
  show: ({ apiKey }) => formatPairs(describeKey(apiKey!)),
});

export const keyCommands = {
  create,
  list,
  rotate,
  "allow-addresses": allowAddresses,
  "allow-origins": allowOrigins,
  revoke,
};

function describeKey(key: ApiKey): [string, string | undefined][] {
  return [
    ["key", key.apiKeyId],
    ["project", key.projectId],
    ["name", key.name],
    ["scopes", formatScopes(key)],
    ["addresses", formatAddresses(key)],
    ["origins", formatOrigins(key)],
    ["limits", key.allowance && formatLimits(key)],
    ["budget left", formatBudgetLeft(key)],
    ["expires", formatTime(key.expireTime, "never")],
    ["revoked", formatTime(key.revokeTime, "no")],
  ];
}

function formatScopes({ scopes }: ApiKey): string {
  return scopes.map((scope) => formatEnum(ApiKey_ScopeSchema, scope)).join(",");
}

function formatAddresses({ allowedAddresses }: ApiKey): string {
  return allowedAddresses.join(",") || "any";
}

function formatOrigins({ allowedOrigins }: ApiKey): string {
  return allowedOrigins.join(",") || "none";
}

function endOf(key: ApiKey | undefined): ApiKey["expireTime"] {
  return key?.revokeTime ?? key?.expireTime;
}
