import {
  CreateSessionResponseSchema,
  RevokeSessionResponseSchema,
  RevokeUserSessionsResponseSchema,
  type Session,
  Session_Scope,
  Session_ScopeSchema,
  SessionSchema,
} from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import {
  allowanceOf,
  formatBudgetLeft,
  formatLimits,
  SESSION_LIMIT_OPTIONS,
} from "../../command-line/limit-options.ts";
import {
  choicesOf,
  duration,
  nonEmptyText,
  operand,
  optional,
  required,
  texts,
  userReference,
  uuid,
} from "../../command-line/option.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatEnum, formatPairs, formatTime } from "../../output/format.ts";
import { listCommand } from "../../output/list-command.ts";
import { formatPlaintext } from "./key.ts";

const PROJECT = { caller: "project", isDirect: false } as const;
const SCOPES = ["onboard", "sign", "read", "release", "propose"] as const;
const USER = "the project's own id of the user";

const create = serviceCommand({
  ...PROJECT,
  isKeyed: true,
  summary: "create a session for a user and show its token once",
  options: {
    user: required("<reference>", USER, userReference),
    scopes: required("<list>", `its permissions, of ${SCOPES.join(",")}`, choicesOf(SCOPES)),
    origin: optional("<list>", "the web origins whose pages may use it; default none", texts),
    lifetime: optional("<duration>", "how long it lasts, at most 1d; default 1h", duration(1)),
    proofKey: optional(
      "<thumbprint>",
      "the key of the device that it is bound to; default none",
      nonEmptyText,
    ),
    ...SESSION_LIMIT_OPTIONS,
  },
  call({ sessions }, values, once) {
    const { user, scopes, origin: origins = [], lifetime, proofKey, ...limits } = values;
    const allowance = allowanceOf(limits);
    return sessions.createSession(
      {
        userReference: user,
        scopes: scopes.map((scope) => Session_Scope[scope]),
        origins,
        ...(lifetime !== undefined && { lifetimeSeconds: lifetime }),
        ...(proofKey !== undefined && { proofKeyThumbprint: proofKey }),
        ...(allowance && { allowance }),
      },
      once,
    );
  },
  reply: CreateSessionResponseSchema,
  show: ({ session, token }) => formatPairs([...describe(session!), ["token", formatPlaintext(token)]]),
});

const list = listCommand({
  ...PROJECT,
  summary: "list the sessions of a project or of a user, newest first, including ended ones",
  options: { user: optional("<reference>", "show only the sessions of this user", userReference) },
  async read({ sessions }, { user }, page) {
    const { sessions: rows, nextPageToken } = await sessions.listSessions({
      ...(user !== undefined && { userReference: user }),
      ...page,
    });
    return { rows, nextPageToken };
  },
  row: SessionSchema,
  columns: [
    { title: "SESSION", of: ({ sessionId }) => sessionId },
    { title: "SCOPES", of: formatScopes },
    { title: "CREATED", of: ({ createTime }) => formatTime(createTime) },
    { title: "LAST USE", of: ({ lastUseTime }) => formatTime(lastUseTime, "never") },
    { title: "EXPIRES", of: ({ expireTime }) => formatTime(expireTime) },
    { title: "REVOKED", of: ({ revokeTime }) => formatTime(revokeTime, "no") },
    { title: "DEVICE", of: formatDevice },
    { title: "ORIGINS", of: formatOrigins },
    { title: "LIMITS", of: formatLimits },
    { title: "BUDGET LEFT", of: formatBudgetLeft },
    { title: "USER", of: ({ userReference: reference }) => reference },
  ],
});

const revoke = serviceCommand({
  ...PROJECT,
  summary: "end a session; replicas refuse it within five seconds",
  options: { session: operand("<session-id>", "the session's id, as `tss session list` shows it", uuid) },
  call: ({ sessions }, { session: sessionId }) => sessions.revokeSession({ sessionId }),
  reply: RevokeSessionResponseSchema,
  show: ({ session }) => formatPairs(describe(session!)),
});

const revokeUser = serviceCommand({
  ...PROJECT,
  summary: "end all sessions of a user; replicas refuse them within five seconds",
  options: { user: operand("<reference>", USER, userReference) },
  call: ({ sessions }, { user }) => sessions.revokeUserSessions({ userReference: user }),
  reply: RevokeUserSessionsResponseSchema,
  show: ({ revokedCount }) => formatPairs([["sessions", `${revokedCount} ended`]]),
});

export const sessionCommands = { create, list, revoke, "revoke-user": revokeUser };

function describe(session: Session): [string, string | undefined][] {
  return [
    ["session", session.sessionId],
    ["user", session.userReference],
    ["scopes", formatScopes(session)],
    ["origins", formatOrigins(session)],
    ["device", formatDevice(session)],
    ["limits", formatLimits(session)],
    ["budget left", formatBudgetLeft(session)],
    ["expires", formatTime(session.expireTime)],
    ["revoked", formatTime(session.revokeTime, "no")],
  ];
}

function formatScopes({ scopes }: Session): string {
  return scopes.map((scope) => formatEnum(Session_ScopeSchema, scope)).join(",");
}

function formatOrigins({ origins }: Session): string {
  return origins.join(",") || "none";
}

function formatDevice({ proofKeyThumbprint }: Session): string {
  return proofKeyThumbprint ?? "any";
}
