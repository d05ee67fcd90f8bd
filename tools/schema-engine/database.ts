import pg from "pg";

/** Creates the database that a connection URL names. */
export async function createDatabase(url: string): Promise<void> {
  await onServer(url, `CREATE DATABASE ${quoted(databaseName(url))}`);
}

/** Drops the database that a connection URL names, even with open connections. */
export async function dropDatabase(url: string): Promise<void> {
  await onServer(url, `DROP DATABASE IF EXISTS ${quoted(databaseName(url))} WITH (FORCE)`);
}

/** Connects once, to check that the database exists and accepts the credentials. */
export async function checkConnection(url: string): Promise<void> {
  await withClient(url, (client) => client.query("SELECT 1"));
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

const databaseName = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A database can be created and dropped only from another one: every server has `postgres`. */
async function onServer(url: string, statement: string): Promise<void> {
  await withClient(withDatabase(url, "postgres"), (client) => client.query(statement));
}

async function withClient(url: string, run: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await run(client);
  } finally {
    await client.end();
  }
}
