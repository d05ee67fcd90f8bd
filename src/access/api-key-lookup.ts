import { API_KEY_TOPICS } from "../coordination/topics.ts";
import type { Database } from "../store/database.ts";
import { createAddressList } from "./address-list.ts";
import { isApiKeyForm } from "./api-key.ts";
import type { Scope } from "./caller.ts";
import { createKeyLookup, type KeyLookup, type KeyLookupOptions } from "./key-lookup.ts";

/** A stored key with the network of its project. */
export interface KnownApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Whether it may be used from an address; undefined: from anywhere. */
  readonly allows: ((address: string) => boolean) | undefined;
}

/** Finds projects' keys by their plaintext. */
export type ApiKeyLookup = KeyLookup<KnownApiKey>;

/** What a lookup of keys in a database needs. */
export interface StoredKeyLookupOptions
  extends Pick<KeyLookupOptions<never>, "signals" | "log" | "now" | "onLookup"> {
  readonly database: Pick<Database, "prisma" | "query">;
}

/** Looks projects' keys up in the database. */
export function createApiKeyLookup({ database, ...options }: StoredKeyLookupOptions): ApiKeyLookup {
  return createKeyLookup<KnownApiKey>({
    ...options,
    kind: API_KEY_TOPICS,
    isForm: isApiKeyForm,
    read: (hash) => readKey(database, hash),
    noteUse: (id) => noteKeyUse(database, "api_key", id),
  });
}

async function readKey(
  { prisma }: Pick<Database, "prisma">,
  hash: Uint8Array,
): Promise<KnownApiKey | undefined> {
  const key = await prisma.apiKey.findUnique({
    where: { hash: new Uint8Array(hash) },
    include: { project: { select: { network: true } } },
  });
  if (key === null) return undefined;
  const { id, projectId, project, scopes, expiresAt, revokedAt, allowedAddresses } = key;
  const allows = allowedAddresses.length === 0 ? undefined : createAddressList(allowedAddresses);
  return { id, projectId, network: project.network, scopes: scopes as Scope[], expiresAt, revokedAt, allows };
}

/** Notes that a good key is in use: once a minute is exact enough to tell keys in use from forgotten ones. */
export async function noteKeyUse(
  database: Pick<Database, "query">,
  table: "api_key" | "admin_key",
  id: string,
): Promise<void> {
  await database.query(
    `UPDATE ${table} SET last_used_at = now()
     WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
       AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [id],
  );
}
