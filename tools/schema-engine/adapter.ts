import { randomUUID } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import {
  ColumnTypeEnum,
  type SqlDriverAdapter,
  type SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import pg from "pg";
import { createDatabase, dropDatabase, withDatabase } from "./database.ts";

/**
 * Prisma's own Postgres adapter, which is made for queries, fixed for migrations:
 *
 * - A script is sent whole. The adapter splits it at every `;`, which breaks function bodies and leaves half of a
 *   failed migration behind; sent whole it is one implicit transaction.
 * - The catalogue's `"char"` columns, which the adapter refuses to read, are read as characters.
 * - The shadow database is created here. The adapter connects to the main one instead if it was given a URL.
 */
export function migrationAdapterFactory(url: string): SqlMigrationAwareDriverAdapterFactory {
  return {
    provider: "postgres",
    adapterName: "@prisma/adapter-pg",
    connect: () => connect(url),
    connectToShadowDb: async () => {
      const shadowUrl = withDatabase(url, `prisma_migrate_shadow_db_${randomUUID()}`);
      await createDatabase(shadowUrl);
      const adapter = await connect(shadowUrl);
      const dispose = adapter.dispose.bind(adapter);
      adapter.dispose = async () => {
        await dispose();
        await dropDatabase(shadowUrl);
      };
      return adapter;
    },
  };
}

async function connect(url: string): Promise<SqlDriverAdapter> {
  const schema = new URL(url).searchParams.get("schema");
  const charColumns = new WeakMap<object, readonly number[]>();
  const pool = hideCharColumns(new pg.Pool({ connectionString: url }), charColumns);
  const adapter = await new PrismaPg(pool, {
    disposeExternalPool: true,
    ...(schema === null ? {} : { schema }),
  }).connect();
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => {
    const result = await queryRaw(query);
    for (const index of charColumns.get(result.rows) ?? [])
      result.columnTypes[index] = ColumnTypeEnum.Character;
    return result;
  };
  adapter.executeScript = async (script) => {
    await adapter.executeRaw({ sql: script, args: [], argTypes: [] });
  };
  return adapter;
}

const CHAR_OID = 18;
const TEXT_OID = 25;

/**
 * Declares `"char"` columns as text, so that the adapter reads them, and records which columns they were for each
 * result.
 */
function hideCharColumns(pool: pg.Pool, charColumns: WeakMap<object, readonly number[]>): pg.Pool {
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<pg.QueryResult>;
  const patched = async (...args: unknown[]): Promise<pg.QueryResult> => {
    const result = await query(...args);
    // A script of several statements returns an array of results, whose columns are never read.
    const fields = result.fields ?? [];
    charColumns.set(
      result.rows ?? result,
      fields.flatMap((field, index) => (field.dataTypeID === CHAR_OID ? [index] : [])),
    );
    for (const field of fields) if (field.dataTypeID === CHAR_OID) field.dataTypeID = TEXT_OID;
    return result;
  };
  pool.query = patched as typeof pool.query;
  return pool;
}
