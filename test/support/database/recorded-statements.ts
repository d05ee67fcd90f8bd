import pg from "pg";
import { columnTypes } from "../../../src/service/platform/store/columns.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { createPoolDatabase } from "../../../src/service/platform/store/pool-database.ts";
import { connecting } from "./test-pool.ts";

/** Opens two connections to a PostgreSQL server, which record their statements, each text once. */
export async function openRecordedDatabase(
  url: string,
  recorded: Map<string, RecordedStatement>,
): Promise<Database> {
  const options = { connectionString: url, max: 2, Client: recordingClient(recorded), types: columnTypes };
  const pool = new pg.Pool(options);
  const database = createPoolDatabase({ kind: "postgres", pool });
  await connecting(url, () => Promise.all([1, 2].map(() => pool.query("SELECT 1"))));
  return database;
}

/** A statement as the server received it. */
export interface RecordedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A class of connections for a pool. It records their statements, each text once. */
function recordingClient(recorded: Map<string, RecordedStatement>): typeof pg.Client {
  return class extends pg.Client {
    // pg has many overloads of this function. All of them pass a text, or a configuration with a text.
    override query(...parameters: unknown[]): never {
      const [first, second] = parameters as [string | { text?: string; values?: unknown[] }, unknown];
      const text = typeof first === "string" ? first : first.text;
      const values = typeof first === "string" ? second : (first.values ?? second);
      if (text !== undefined && !recorded.has(text))
        recorded.set(text, { text, values: Array.isArray(values) ? values : [] });
      return super.query(...(parameters as [string])) as never;
    }
  };
}
