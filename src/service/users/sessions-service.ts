import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Session,
  Session_Scope,
  SessionSchema,
  type Sessions,
} from "../../../gen/proto/tss/v1/sessions_pb.ts";
import { decodeLimits, encodeLimits } from "../access/allowances/allowance-message.ts";
import { callerOf, SESSION_SCOPES, type SessionScope } from "../access/caller.ts";
import { invalidField } from "../platform/errors/service-error.ts";
import { idempotencyOf } from "../platform/idempotency/idempotency.ts";
import { revokeSession, revokeUserSessions } from "./end-sessions.ts";
import { listSessions, readSession, type SessionDetails } from "./session-row.ts";
import { createSession, type SessionDeps } from "./sessions.ts";

/** Implements `tss.v1.Sessions`. */
export function createSessionsService(deps: SessionDeps): ServiceImpl<typeof Sessions> {
  const { database } = deps;
  return {
    async createSession({ scopes, allowance, ...request }, context) {
      const { userReference, origins, lifetimeSeconds, proofKeyThumbprint } = request;
      const { userReferences, ...limits } = decodeLimits(allowance);
      if (userReferences !== undefined) {
        throw invalidField("allowance.user_references", "must be empty: the session is for `user_reference`");
      }
      const { details, token } = await createSession(
        deps,
        callerOf(context, "project"),
        idempotencyOf(context),
        {
          userReference,
          origins,
          lifetimeSeconds,
          proofKeyThumbprint,
          scopes: decodeScopes(scopes),
          limits,
        },
      );
      return { session: encodeSession(details), token: token ?? "" };
    },
    async listSessions(request, context) {
      const { rows, nextPageToken } = await listSessions(database, callerOf(context, "project"), request);
      return { sessions: rows.map(encodeSession), nextPageToken };
    },
    async getSession({ sessionId }, context) {
      return { session: encodeSession(await readSession(database, callerOf(context, "project"), sessionId)) };
    },
    async revokeSession({ sessionId }, context) {
      return { session: encodeSession(await revokeSession(deps, callerOf(context, "project"), sessionId)) };
    },
    async revokeUserSessions({ userReference }, context) {
      return { revokedCount: await revokeUserSessions(deps, callerOf(context, "project"), userReference) };
    },
  };
}

/** Encodes a session for its project. */
export function encodeSession(session: SessionDetails): Session {
  const { id, userReference, scopes, origins, createdAt, expiresAt, revokedAt, lastUsedAt } = session;
  const { apiKeyId, identityProviderId, proofKeyThumbprint } = session;
  return create(SessionSchema, {
    sessionId: id,
    userReference,
    scopes: scopes.map((scope) => Session_Scope[scope]),
    origins: [...origins],
    createTime: timestampFromDate(createdAt),
    expireTime: timestampFromDate(expiresAt),
    ...(revokedAt !== null && { revokeTime: timestampFromDate(revokedAt) }),
    ...(lastUsedAt !== null && { lastUseTime: timestampFromDate(lastUsedAt) }),
    ...(apiKeyId !== null && { apiKeyId }),
    ...(identityProviderId !== null && { identityProviderId }),
    ...(proofKeyThumbprint !== null && { proofKeyThumbprint }),
    ...encodeLimits(session.allowance, session.budgetLeft),
  });
}

function decodeScopes(scopes: readonly Session_Scope[]): SessionScope[] {
  return SESSION_SCOPES.filter((name) => scopes.includes(Session_Scope[name]));
}
