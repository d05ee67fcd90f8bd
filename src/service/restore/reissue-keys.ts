import sql from "sql-template-tag";
import { revokeApiKey, rotateApiKey } from "../access/keys/api-keys.ts";
import { boolean, text } from "../platform/store/columns.ts";
import { type Database, readRows } from "../platform/store/database.ts";
import { endSessionsOfNetwork } from "../users/end-sessions.ts";

/**
 * Revokes every valid key of the network and creates its replacement. A key that already has a successor is only
 * revoked, and so is each of `revokedIds`: these were revoked after the copy was made, and the copy does not know it.
 * Ends all sessions for the same reason, also those that no key has created: their users begin new ones. Returns the number of new keys.
 */
export async function reissueKeys(
  database: Database,
  network: string,
  { keep, revokedIds }: ReissueOptions,
): Promise<number> {
  const usable = await readRows(
    database,
    sql`SELECT k.id, p.name AS "projectName",
       EXISTS (SELECT 1 FROM api_key newer WHERE newer.rotated_from = k.id) AS "isReplaced"
     FROM api_key k JOIN project p ON p.id = k.project_id
     WHERE p.network = ${network} AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
     ORDER BY k.id`,
    { id: text, projectName: text, isReplaced: boolean },
  );
  const caller = { kind: "admin", network, networks: [network], origin: ORIGIN } as const;
  const isDone = ({ id, isReplaced }: { readonly id: string; readonly isReplaced: boolean }) =>
    isReplaced || revokedIds.includes(id);
  for (const { id } of usable.filter(isDone))
    await revokeApiKey({ db: database, lookup: NO_LOOKUP }, caller, id);
  await endSessionsOfNetwork(database, network, ORIGIN);
  const toReplace = usable.filter((key) => !isDone(key));
  for (const { id, projectName } of toReplace) {
    const rotation = { apiKeyId: id, overlapSeconds: 0 };
    const made = await rotateApiKey({ database, lookup: NO_LOOKUP }, caller, undefined, rotation);
    if (made.plaintext === undefined) throw new Error(`key ${id} was re-issued without its plaintext`);
    const { details, replaced, plaintext: apiKey } = made;
    const { projectId, name } = details;
    keep({ projectId, projectName, name, replacedPrefix: replaced.prefix, apiKeyId: details.id, apiKey });
  }
  return toReplace.length;
}

/** Options of {@link reissueKeys}. */
export interface ReissueOptions {
  /** Receives each new key, and must store it before it returns. */
  readonly keep: (key: ReissuedKey) => void;
  /** The ids of keys that get no replacement, in lower case. */
  readonly revokedIds: readonly string[];
}

/** The replacement of a key. */
export interface ReissuedKey {
  readonly projectId: string;
  readonly projectName: string;
  readonly name: string;
  /** The first characters of the replaced key. */
  readonly replacedPrefix: string;
  readonly apiKeyId: string;
  /** The key itself, which is stored nowhere else. */
  readonly apiKey: string;
}

const ORIGIN = { actor: "system" } as const;
const NO_LOOKUP = { forget: () => {} };
