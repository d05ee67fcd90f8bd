import { existsSync } from "node:fs";
import path from "node:path";
import pg from "pg";
import type { Config } from "../../config/config.ts";
import { columnTypes } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { openPglite } from "../../store/open-pglite.ts";
import { lookAtSession } from "../../store/open-postgres.ts";
import { withClient } from "../../store/pool-database.ts";
import type { HealthDatabase } from "../checks/health-subject.ts";

/** Opens the database and changes nothing. Throws if PostgreSQL does not answer or refuses. */
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
  // The statement on a broken connection reports the failure.
  pool.on("error", () => {});
  const { isPooled } = await withClient(pool, lookAtSession).catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });
  const db: Queryable = {
    query: async <Row>(statement: string, parameters: readonly unknown[] = []) =>
      (await pool.query(statement, [...parameters])).rows as Row[],
  };
  return { kind: "postgres", db, isPooled, close: () => pool.end() };
}

/** The doctor's own connection to the database. */
export type DoctorDatabase = HealthDatabase & { close(): Promise<void> };

const TIMEOUT_MS = 5_000;
/** Leaves the other connections to a service on the same server. */
const CONNECTIONS_MAX_COUNT = 2;

async function openEmbedded(dataDirectory: string): Promise<DoctorDatabase> {
  const outOfReach = (why: string): DoctorDatabase => ({ kind: "out-of-reach", why, close: async () => {} });
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
