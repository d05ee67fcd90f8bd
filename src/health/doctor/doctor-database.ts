import { existsSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import type { Config } from "../../config/config.ts";
import { columnTypes } from "../../store/column-types.ts";
import type { Queryable } from "../../store/database.ts";
import { openPglite } from "../../store/open-pglite.ts";

/** The database as far as it can be looked at beside a running service. */
export type DoctorDatabase =
  | { readonly kind: "postgres" | "pglite"; readonly db: Queryable; close(): Promise<void> }
  /** The embedded database does not exist yet, or belongs to a process that runs. */
  | { readonly kind: "out of reach"; readonly why: string; close(): Promise<void> };

const TIMEOUT_MS = 5_000;
/** A service beside it needs the others. */
const CONNECTIONS_MAX_COUNT = 2;

/** Opens it and changes nothing. Throws when PostgreSQL does not answer or refuses. */
export async function openDoctorDatabase({
  databaseUrl,
  dataDirectory,
}: Pick<Config, "databaseUrl" | "dataDirectory">): Promise<DoctorDatabase> {
  if (databaseUrl === undefined) return openEmbedded(dataDirectory);
  const pool = new pg.Pool({
    connectionString: databaseUrl.reveal(),
    max: CONNECTIONS_MAX_COUNT,
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    application_name: "tss doctor",
    types: columnTypes,
  });
  // A connection that breaks fails the statement under way, which says so.
  pool.on("error", () => {});
  await pool.query("SELECT 1").catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  const db: Queryable = {
    query: async <Row>(statement: string, parameters: readonly unknown[] = []) =>
      (await pool.query(statement, [...parameters])).rows as Row[],
  };
  return { kind: "postgres", db, close: () => pool.end() };
}

async function openEmbedded(dataDirectory: string): Promise<DoctorDatabase> {
  const outOfReach = (why: string): DoctorDatabase => ({ kind: "out of reach", why, close: async () => {} });
  if (!existsSync(path.join(dataDirectory, "pg"))) return outOfReach("embedded; created at the first start");
  try {
    const database = await openPglite(dataDirectory);
    return { kind: "pglite", db: database, close: () => database.close() };
  } catch (error) {
    if (error instanceof Error && /^process \d+ uses/.test(error.message))
      return outOfReach("embedded, and in use by a running service");
    throw error;
  }
}

/** Where PostgreSQL is, without user and password. */
export function placeOf(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host || "the local socket"}${pathname}`;
}
