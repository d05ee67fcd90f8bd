import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";
import {
  type CreateSessionRequestSchema,
  type Session,
  Session_Scope,
  Sessions,
} from "../../../../gen/client/tss/v1/sessions_pb.ts";
import { SignatureAlgorithm } from "../../../../gen/client/tss/v1/types_pb.ts";
import type { SignatureAlgorithmName } from "../../../protocol/algorithms.ts";
import type { ListArgs } from "../calls/service-calls.ts";
import { createServiceCalls, type RequestOptions, type ServiceCaller } from "../calls/service-calls.ts";
import { TssError } from "../errors.ts";

/** Creates the calls of sessions over a transport that adds the caller's headers. */
export function createSessionCalls(transport: Transport, caller?: ServiceCaller): SessionCalls {
  const sessions = createServiceCalls(Sessions, transport, caller);
  return {
    async create(args, options) {
      const reply = await sessions.createSession(requestOf(args), options);
      const { sessionId, userReference, expireTime } = sessionOf(reply);
      return {
        token: reply.token,
        sessionId,
        userReference,
        expireTime: expireTime ? timestampDate(expireTime) : new Date(0),
      };
    },
    list: sessions.listSessions,
    get: async (args, options) => sessionOf(await sessions.getSession(args, options)),
    revoke: async (args, options) => sessionOf(await sessions.revokeSession(args, options)),
    revokeUser: async (args, options) => (await sessions.revokeUserSessions(args, options)).revokedCount,
  };
}

/**
 * The sessions of a project's users, for its backend: the key needs the scope `sessions`. A failed call rejects with a
 * {@link TssError}.
 */
export interface SessionCalls {
  /**
   * Creates a session for a user whom the backend has authenticated. Send the result to the user's page, as the answer to
   * the function of its option `session`.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} SCOPE_MISSING when the key lacks the scope `sessions`.
   * @throws {TssError} SESSION_TOO_WIDE when the session would have more than the key.
   * @throws {TssError} TOO_MANY_SESSIONS when the project has too many sessions.
   *
   * @example
   * const { token, expireTime, userReference } = await client.sessions.create({
   *   userReference: "user-42",
   *   scopes: ["onboard", "sign", "read"],
   *   origins: ["https://app.example"],
   * });
   */
  create(args: CreateSessionArgs, options?: RequestOptions): Promise<CreatedSession>;
  /**
   * Lists the sessions of the project or of one user, including ended ones. The service deletes a session a day after
   * its expiry.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const { sessionId } of client.sessions.list({ userReference: "user-42" })) console.log(sessionId);
   */
  list(args?: ListSessionsArgs, options?: RequestOptions): AsyncIterable<Session>;
  /**
   * Reads a session.
   *
   * @throws {TssError} SESSION_NOT_FOUND when the project has no such session.
   *
   * @example
   * const { lastUseTime } = await client.sessions.get({ sessionId });
   */
  get(args: { readonly sessionId: string }, options?: RequestOptions): Promise<Session>;
  /**
   * Ends a session and its streams.
   *
   * @throws {TssError} SESSION_NOT_FOUND when the project has no such session.
   *
   * @example
   * await client.sessions.revoke({ sessionId });
   */
  revoke(args: { readonly sessionId: string }, options?: RequestOptions): Promise<Session>;
  /**
   * Ends all sessions of a user, such as when the user signs out everywhere. Returns the number that this call ended.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * await client.sessions.revokeUser({ userReference: "user-42" });
   */
  revokeUser(args: { readonly userReference: string }, options?: RequestOptions): Promise<number>;
}

/** Arguments of `sessions.create`. */
export interface CreateSessionArgs {
  /** The user, by the project's own id: 1 to 128 printable ASCII characters. */
  readonly userReference: string;
  /** What the session may do. The key must have these scopes; `sign` includes `propose`. */
  readonly scopes: readonly ("onboard" | "sign" | "read" | "release" | "propose")[];
  /** The web origins whose pages may use the session, such as `https://app.example`. Default: no page may. */
  readonly origins?: string[] | undefined;
  /** At most 24 hours. Default: one hour. */
  readonly lifetimeSeconds?: number | undefined;
  /** The limits of the session beyond its user. Default: those of the key. */
  readonly allowance?: SessionAllowance | undefined;
  /** Binds the session to a key of the device: the RFC 7638 thumbprint of its public key. Default: the token suffices. */
  readonly proofKeyThumbprint?: string | undefined;
}

/** What a session may do beyond its scopes. */
export interface SessionAllowance {
  /** The ids of dWallets of the user. Default: all of the user's. */
  readonly dwalletIds?: string[] | undefined;
  /** Default: all. */
  readonly algorithms?: readonly SignatureAlgorithmName[] | undefined;
  /** The maximum that the session spends in any window of time. Default: none. */
  readonly budget?: SessionBudget | undefined;
}

/** At least one of the two limits is given. */
export interface SessionBudget {
  /** From a minute on. */
  readonly windowSeconds: number;
  /** The number of signatures and dWallets. */
  readonly maxCount?: number | undefined;
  /** The sum of their prices, in millionths of a US dollar. */
  readonly maxMicroUsd?: bigint | undefined;
}

/** A new session. */
export interface CreatedSession {
  /** Shown once: empty if a call with the same idempotency key has already returned it. */
  readonly token: string;
  readonly sessionId: string;
  readonly userReference: string;
  readonly expireTime: Date;
}

/** Arguments of `sessions.list`. */
export interface ListSessionsArgs extends ListArgs {
  readonly userReference?: string | undefined;
}

function requestOf(args: CreateSessionArgs): MessageInitShape<typeof CreateSessionRequestSchema> {
  const { userReference, scopes, origins = [], lifetimeSeconds, allowance, proofKeyThumbprint } = args;
  return {
    userReference,
    origins,
    scopes: scopes.map((scope) => Session_Scope[scope]),
    ...(lifetimeSeconds !== undefined && { lifetimeSeconds }),
    ...(proofKeyThumbprint !== undefined && { proofKeyThumbprint }),
    ...(allowance && { allowance: allowanceOf(allowance) }),
  };
}

function allowanceOf({ dwalletIds = [], algorithms = [], budget }: SessionAllowance) {
  return {
    dwalletIds,
    algorithms: algorithms.map((name) => SignatureAlgorithm[name]),
    ...(budget && { budget: budgetOf(budget) }),
  };
}

function budgetOf({ windowSeconds, maxCount, maxMicroUsd }: SessionBudget) {
  return {
    windowSeconds,
    ...(maxCount !== undefined && { maxCount }),
    ...(maxMicroUsd !== undefined && { maxMicroUsd }),
  };
}

function sessionOf({ session }: { readonly session?: Session | undefined }): Session {
  if (session === undefined) throw new TssError("INTERNAL", "the service answered without the session");
  return session;
}
