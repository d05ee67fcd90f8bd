import pg from "pg";

/** Makes the database that a connection URL names. */
export async function createDatabase(url: string): Promise<void> {
  await onServer(url, `CREATE DATABASE ${quoted(databaseName(url))}`);
}

/** Removes the database that a connection URL names, with whoever is still connected. */
export async function dropDatabase(url: string): Promise<void> {
  await onServer(url, `DROP DATABASE IF EXISTS ${quoted(databaseName(url))} WITH (FORCE)`);
}

/** Connects once, to see whether the database is there and lets us in. */
export async function checkConnection(url: string): Promise<void> {
  await withClient(url, (client) => client.query("SELECT 1"));
}

/** The same server, another database. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

const databaseName = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A database can be made and removed only from another one: every server has `postgres`. */
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
