import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import { createPgConfig } from "@electric-sql/pglite/node-postgres";
import type pg from "pg";
import { columnTypes } from "./columns.ts";
import type { Database } from "./database.ts";
import { openPgliteThread, type PgliteProtocol } from "./pglite-thread.ts";
import { lockFileOf, takePidLock } from "./pid-lock.ts";
import { createPoolDatabase, SingleSessionPool } from "./pool-database.ts";

/**
 * Opens the embedded database in `<dataDirectory>/pg` on its own thread, and creates it at the first start. Every
 * commit is on disk before its reply. A lock file excludes a second process, because PGlite does not. Throws if
 * another process has it open.
 */
export async function openPglite(dataDirectory: string): Promise<Database> {
  await mkdir(dataDirectory, { recursive: true });
  const lock = await takePidLock(lockFileOf(dataDirectory));
  try {
    const pglite = await openPgliteThread(path.join(dataDirectory, "pg"));
    return databaseOnPglite(pglite, () => lock.release());
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Longer than any statement. A caller that waits this long has deadlocked with its own transaction. */
const SESSION_TIMEOUT_MS = 30_000;

/** Creates the database on PGlite. Closing it closes PGlite. */
export function databaseOnPglite(pglite: PgliteProtocol, onClosed?: () => Promise<void>): Database {
  const pool = new SingleSessionPool({
    ...connectionTo(pglite),
    // There is one session, which never reconnects.
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: SESSION_TIMEOUT_MS,
    types: columnTypes,
  });
  pool.on("error", () => {});
  return createPoolDatabase({
    kind: "pglite",
    pool,
    async onClosed() {
      await pglite.close();
      await onClosed?.();
    },
  });
}

/**
 * Connects a pg client to PGlite. PGlite's connection reads `types` of a statement as parameter types, while Prisma's
 * adapter passes column parsers there.
 */
function connectionTo(pglite: PgliteProtocol): pg.PoolConfig {
  const { connection, user, password, database } = createPgConfig(pglite as PGlite);
  const parse = connection.parse.bind(connection);
  connection.parse = (query: { types?: unknown }) =>
    parse({ ...query, types: Array.isArray(query.types) ? query.types : undefined });
  // pg accepts a ready connection, although its types do not say so.
  return { connection, user, password, database } as pg.PoolConfig;
}
