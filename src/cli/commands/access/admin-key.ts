import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type AdminKey,
  AdminKeySchema,
  CreateAdminKeyResponseSchema,
  RevokeAdminKeyResponseSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { moment, nonEmptyText, operand, optional, required, uuid } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";
import { formatPlaintext } from "./key.ts";

const OPERATOR = { caller: "operator", isDirect: true } as const;

const create = serviceCommand({
  ...OPERATOR,
  isKeyed: true,
  summary: "create an operator's key and show it once; requires ADMIN_API_KEY",
  options: {
    name: required(
      "<name>",
      "the owner's name, such as alice; the audit trail records admin:alice",
      nonEmptyText,
    ),
    expires: optional("<time>", "the expiry, such as 2027-01-31 or 90d; default never", moment),
  },
  call: ({ admin }, { name, expires }, once) =>
    admin.createAdminKey({ name, ...(expires && { expireTime: timestampFromDate(expires) }) }, once),
  reply: CreateAdminKeyResponseSchema,
  show: ({ adminKey, plaintext }) =>
    formatPairs([...describeKey(adminKey!), ["admin key", formatPlaintext(plaintext)]]),
});

const list = listCommand({
  ...OPERATOR,
  summary: "list the operators' keys, newest first, including revoked and expired ones",
  options: {},
  async read({ admin }, _values, page) {
    const { adminKeys: rows, nextPageToken } = await admin.listAdminKeys(page);
    return { rows, nextPageToken };
  },
  row: AdminKeySchema,
  columns: [
    { title: "KEY", of: ({ adminKeyId }) => adminKeyId },
    { title: "NAME", of: ({ name }) => name },
    { title: "PREFIX", of: ({ prefix }) => prefix },
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "LAST USE", of: ({ lastUseTime }) => formatTime(lastUseTime, "never") },
    { title: "EXPIRES", of: ({ expireTime }) => formatTime(expireTime, "never") },
    { title: "REVOKED", of: ({ revokeTime }) => formatTime(revokeTime, "no") },
  ],
});

const revoke = serviceCommand({
  ...OPERATOR,
  summary: "revoke an operator's key permanently; replicas refuse it within five seconds",
  options: { key: operand("<key-id>", "the key's id, as `tss admin-key list` shows it", uuid) },
  call: ({ admin }, { key: adminKeyId }) => admin.revokeAdminKey({ adminKeyId }),
  reply: RevokeAdminKeyResponseSchema,
  show: ({ adminKey }) => formatPairs(describeKey(adminKey!)),
});

export const adminKeyCommands = { create, list, revoke };

function describeKey(key: AdminKey): [string, string][] {
  return [
    ["key", key.adminKeyId],
    ["name", key.name],
    ["expires", formatTime(key.expireTime, "never")],
    ["revoked", formatTime(key.revokeTime, "no")],
  ];
}
