import { ServiceError } from "../../platform/errors/service-error.ts";
import type { KnownSession } from "../stored-sessions.ts";
import type { KeyStanding } from "./key-lookup.ts";

/** Returns the key or token of a call. Throws MISSING_KEY if there is none. */
export function keyOf(headers: Headers): string {
  const key = sentKey(headers);
  if (key === undefined) {
    throw new ServiceError("MISSING_KEY", "send `authorization: Bearer <key>` or `x-api-key`");
  }
  return key;
}

/** Returns the key or token of a call, if it has one. */
export function sentKey(headers: Headers): string | undefined {
  const bearer = /^(?:Bearer|DPoP) +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  return (bearer ?? headers.get("x-api-key")) || undefined;
}

/** Returns a key that may be used. Throws INVALID_KEY, REVOKED_KEY and EXPIRED_KEY. */
export function usable<Key extends KeyStanding>(key: Key | undefined): Key {
  if (key === undefined) throw new ServiceError("INVALID_KEY", "the API key is unknown");
  if (key.isRevoked) throw new ServiceError("REVOKED_KEY", "the API key was revoked");
  if (key.isExpired) {
    throw new ServiceError("EXPIRED_KEY", "the API key has expired", {
      metadata: { expireTime: key.expiresAt?.toISOString() ?? "" },
    });
  }
  return key;
}

/** Returns a session that may be used. Throws INVALID_KEY, SESSION_REVOKED and SESSION_EXPIRED. */
export function usableSession(session: KnownSession | undefined): KnownSession {
  if (session === undefined) throw new ServiceError("INVALID_KEY", "the session's token is unknown");
  if (session.isRevoked) throw new ServiceError("SESSION_REVOKED", "the session was revoked");
  if (session.isExpired) {
    throw new ServiceError("SESSION_EXPIRED", "the session has expired", {
      metadata: { expireTime: session.expiresAt?.toISOString() ?? "" },
    });
  }
  return session;
}
