import type { Database } from "../store/database.ts";
import { hashApiKey, isApiKeyForm } from "./api-key.ts";
import type { Scope } from "./caller.ts";
import { RecentMap } from "./recent-map.ts";

/** A stored key with the network of its project. */
export interface KnownApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Finds keys by their plaintext. */
export interface ApiKeyLookup {
  /** The key, revoked and expired ones too; undefined if it is not known. */
  find(plaintext: string): Promise<KnownApiKey | undefined>;
  /** The key if it was found a moment ago, so that nobody need be asked. */
  recall(plaintext: string): KnownApiKey | undefined;
  /** Drops what is remembered of a key. */
  forget(apiKeyId: string): void;
}

/** What the lookup needs. */
export interface ApiKeyLookupOptions {
  readonly database: ApiKeyDatabase;
  readonly log: { warn(fields: object, message: string): void };
  /** Milliseconds since the epoch. Default: the clock. */
  readonly now?: () => number;
}

type ApiKeyDatabase = Pick<Database, "prisma" | "query">;

/** For so long a key that another process revoked may still be taken. */
const REMEMBERED_MS = 5_000;
const REMEMBERED_MAX_COUNT = 10_000;

/**
 * Looks keys up in the database and remembers those that exist for a few seconds. Unknown keys are not remembered,
 * so that a key works as soon as it is made.
 */
export function createApiKeyLookup({ database, log, now = Date.now }: ApiKeyLookupOptions): ApiKeyLookup {
  const remembered = new RecentMap<string, { readonly key: KnownApiKey; readonly untilMs: number }>(
    REMEMBERED_MAX_COUNT,
  );
  const recall = (hash: Uint8Array) => {
    const known = remembered.get(nameOf(hash));
    return known !== undefined && known.untilMs > now() ? known.key : undefined;
  };
  return {
    recall: (plaintext) => (isApiKeyForm(plaintext) ? recall(hashApiKey(plaintext)) : undefined),
    async find(plaintext) {
      if (!isApiKeyForm(plaintext)) return undefined;
      const hash = hashApiKey(plaintext);
      const known = recall(hash);
      if (known !== undefined) return known;
      const key = await readKey(database, hash);
      if (key === undefined) {
        remembered.delete(nameOf(hash));
        return undefined;
      }
      remembered.set(nameOf(hash), { key, untilMs: now() + REMEMBERED_MS });
      noteUse(database, key.id).catch((cause: unknown) =>
        log.warn({ apiKeyId: key.id, cause }, "last use not noted"),
      );
      return key;
    },
    forget(apiKeyId) {
      for (const [name, { key }] of remembered) if (key.id === apiKeyId) remembered.delete(name);
    },
  };
}

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("base64");
}

async function readKey({ prisma }: ApiKeyDatabase, hash: Uint8Array): Promise<KnownApiKey | undefined> {
  const key = await prisma.apiKey.findUnique({
    where: { hash: new Uint8Array(hash) },
    include: { project: { select: { network: true } } },
  });
  if (key === null) return undefined;
  const { id, projectId, project, scopes, expiresAt, revokedAt } = key;
  return { id, projectId, network: project.network, scopes: scopes as Scope[], expiresAt, revokedAt };
}

/** Once a minute is exact enough to tell keys in use from forgotten ones. */
async function noteUse(database: ApiKeyDatabase, apiKeyId: string): Promise<void> {
  await database.query(
    `UPDATE api_key SET last_used_at = now()
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [apiKeyId],
  );
}
