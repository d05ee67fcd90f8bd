import sql from "sql-template-tag";
import { API_KEY_TOPICS, IDENTITY_PROVIDER_TOPICS, SESSION_TOPICS } from "../platform/coordination/topics.ts";
import { boolean, listOf, nullable, oneOf, text } from "../platform/store/columns.ts";
import type { Queryable } from "../platform/store/database.ts";
import type { Allowance } from "./allowances/allowance.ts";
import {
  ALLOWANCE_COLUMNS,
  type AllowanceRow,
  allowanceOf,
  joinAllowance,
  SELECT_ALLOWANCE,
} from "./allowances/allowances.ts";
import { SCOPES, type Scope } from "./caller.ts";
import { isSessionForm } from "./keys/api-key.ts";
import { createKeyLookup, type KeyLookup, type KeyStanding } from "./keys/key-lookup.ts";
import {
  noteKeyUse,
  readStoredKeys,
  STANDING_COLUMNS,
  type StoredKeyLookupOptions,
  type StoredKeys,
} from "./keys/stored-keys.ts";

/**
 * Creates a look-up of sessions by their tokens, which works like that of keys. A session also ends when the key that
 * created it is revoked or expires, which a rotation may bring forward, and when its identity provider is removed.
 */
export function createSessionLookup({ database, ...options }: StoredKeyLookupOptions): SessionLookup {
  return createKeyLookup<KnownSession>({
    ...options,
    kind: SESSION_TOPICS,
    ownerOf: ({ projectId }) => projectId,
    makers: [
      { kind: API_KEY_TOPICS, idOf: ({ apiKeyId }) => apiKeyId },
      { kind: IDENTITY_PROVIDER_TOPICS, idOf: ({ identityProviderId }) => identityProviderId },
    ],
    isForm: isSessionForm,
    read: (hashes) => readSessions(database, hashes),
    noteUse: (id) => noteKeyUse(database, "session", id),
  });
}

/** A stored session with the network of its project. */
export interface KnownSession extends KeyStanding {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  readonly scopes: readonly Scope[];
  readonly userReference: string;
  /** The web origins whose pages may use it. */
  readonly origins: readonly string[];
  /** The RFC 7638 thumbprint of the device's key; null if the token alone suffices. */
  readonly proofKeyThumbprint: string | null;
  /** The key that created it; null if no key did. */
  readonly apiKeyId: string | null;
  /** The identity provider whose token was exchanged for it; null if a key created it. */
  readonly identityProviderId: string | null;
  /** Confined to the session's user. */
  readonly allowance: Allowance;
}

/** Finds sessions by their tokens. */
export type SessionLookup = KeyLookup<KnownSession>;

type SessionRow = Omit<KnownSession, "allowance"> &
  AllowanceRow & {
    readonly hash: string;
    readonly isMakerRevoked: boolean;
    readonly isMakerExpired: boolean;
  };

async function readSessions(
  database: Queryable,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, KnownSession>> {
  const rows = await readStoredKeys(database, STORED_SESSIONS, hashes);
  return new Map([...rows].map(([hash, row]) => [hash, knownSession(row)]));
}

const STORED_SESSIONS: StoredKeys<SessionRow> = {
  select: sql`k.project_id AS "projectId", p.network, k.scopes, k.user_reference AS "userReference", k.origins,
    k.proof_key_thumbprint AS "proofKeyThumbprint", k.api_key_id AS "apiKeyId",
    k.identity_provider_id AS "identityProviderId",
    (m.revoked_at IS NOT NULL OR r.id IS NOT NULL) AS "isMakerRevoked",
    coalesce(m.expires_at <= clock_timestamp(), false) AS "isMakerExpired", ${SELECT_ALLOWANCE}`,
  from: sql`session k JOIN project p ON p.id = k.project_id LEFT JOIN api_key m ON m.id = k.api_key_id
    LEFT JOIN removed_identity_provider r ON r.id = k.identity_provider_id
    ${joinAllowance(sql`coalesce(k.allowance_id, k.id)`)}`,
  columns: {
    ...STANDING_COLUMNS,
    projectId: text,
    network: text,
    scopes: listOf(oneOf(...SCOPES)),
    userReference: text,
    origins: listOf(text),
    proofKeyThumbprint: nullable(text),
    apiKeyId: nullable(text),
    identityProviderId: nullable(text),
    isMakerRevoked: boolean,
    isMakerExpired: boolean,
    ...ALLOWANCE_COLUMNS,
  },
};

function knownSession(row: SessionRow): KnownSession {
  const { id, projectId, network, scopes, userReference, origins, proofKeyThumbprint, apiKeyId } = row;
  const { identityProviderId, isRevoked, isMakerRevoked, isExpired, isMakerExpired, leftMs, expiresAt } = row;
  const allowance = allowanceOf(row);
  // Without its row, a session would not be confined to its user.
  if (allowance?.userReferences?.length !== 1) throw new Error(`the session ${id} has no user's allowance`);
  return {
    id,
    projectId,
    network,
    scopes,
    userReference,
    origins,
    proofKeyThumbprint,
    apiKeyId,
    allowance,
    identityProviderId,
    isRevoked: isRevoked || isMakerRevoked,
    isExpired: isExpired || isMakerExpired,
    leftMs,
    expiresAt,
  };
}
