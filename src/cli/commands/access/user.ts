import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { UserUsageSchema } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { DeleteUserResponseSchema, type User, UserSchema } from "../../../../gen/proto/tss/v1/users_pb.ts";
import { formatDollars } from "../../../protocol/price-table.ts";
import { choiceOf, operand, optional, pastTime, userReference } from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import type { Clients } from "../../connections/with-clients.ts";
import { formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";

const PROJECT = { caller: "project", isDirect: false } as const;
const REFERENCE = operand("<reference>", "the project's own id of the user", userReference);

const list = listCommand({
  ...PROJECT,
  summary: "list a project's users, in the order of their references",
  options: {
    prefix: optional("<text>", "show only references that begin with this text", userReference),
    state: optional("<state>", "show only active or only frozen users", choiceOf(["active", "frozen"])),
  },
  async read({ users }, { prefix, state }, page) {
    const { users: rows, nextPageToken } = await users.listUsers({
      ...(prefix !== undefined && { referencePrefix: prefix }),
      ...(state !== undefined && { frozen: state === "frozen" }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: UserSchema,
  columns: [
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "FROZEN", of: ({ freezeTime }) => formatTime(freezeTime, "no") },
    { title: "USER", of: ({ reference }) => reference },
  ],
});

const get = userCommand("show a user", ({ users }, reference) => users.getUser({ reference }));

const create = userCommand(
  "make a user before the first call that names it; a repeat shows the user",
  ({ users }, reference) => users.createUser({ reference }),
);

const freeze = userCommand(
  "stop a user at once: the service makes no keys and signs nothing; reads, deposits and exports still work",
  ({ users }, reference) => users.freezeUser({ reference }),
);

const unfreeze = userCommand("let a frozen user continue", ({ users }, reference) =>
  users.unfreezeUser({ reference }),
);

const remove = serviceCommand({
  ...PROJECT,
  summary: "delete a user whose dWallets have left the service; the reference is never used again",
  options: { reference: REFERENCE },
  call: ({ users }, { reference }) => users.deleteUser({ reference }),
  reply: DeleteUserResponseSchema,
  show: () =>
    "the user is deleted and its sessions have ended; payments, the ledger and the audit trail stay",
});

const usage = listCommand({
  caller: "project",
  isDirect: true,
  summary: "list what each user of a project was charged, the highest spending first",
  options: {
    from: optional("<time>", "the beginning, at most 31 days before the end; default 30 days", pastTime),
    to: optional("<time>", "the end; default now", pastTime),
  },
  async read({ billing }, { from, to }, page) {
    const { users: rows, nextPageToken } = await billing.listUserUsage({
      ...(from && { startTime: timestampFromDate(from) }),
      ...(to && { endTime: timestampFromDate(to) }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: UserUsageSchema,
  columns: [
    { title: "CHARGED", of: ({ chargedMicroUsd }) => formatDollars(chargedMicroUsd), align: "right" },
    { title: "SIGNATURES", of: ({ signCount }) => String(signCount), align: "right" },
    { title: "DWALLETS", of: ({ dwalletCount }) => String(dwalletCount), align: "right" },
    { title: "SHARES", of: ({ shareCount }) => String(shareCount), align: "right" },
    { title: "REFUNDS", of: ({ refundCount }) => String(refundCount), align: "right" },
    { title: "USER", of: ({ userReference: reference }) => reference },
  ],
});

export const userCommands = { list, get, usage, create, freeze, unfreeze, delete: remove };

/** Creates a command from a call that takes a user's reference and returns the user. */
function userCommand(summary: string, call: (clients: Clients, reference: string) => Promise<User>) {
  return serviceCommand({
    ...PROJECT,
    summary,
    options: { reference: REFERENCE },
    call: (clients, { reference }) => call(clients, reference),
    reply: UserSchema,
    show: ({ reference, createTime, freezeTime }) =>
      formatPairs([
        ["user", reference],
        ["created", formatTime(createTime)],
        ["frozen", formatTime(freezeTime, "no")],
      ]),
  });
}
