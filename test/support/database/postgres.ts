import { randomUUID } from "node:crypto";
import { inject } from "vitest";
import { environment, serverMissing } from "../environment.ts";
import { openTestClient } from "./test-pool.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The name of the migrated database, or an empty text if there is no PostgreSQL for tests. */
    migratedTemplate: string;
  }
}

/** A temporary database on a real PostgreSQL server. */
export interface TestDatabase {
  readonly url: string;
  /** Drops the database, even with open connections. */
  drop(): Promise<void>;
}

/**
 * Creates an empty database for one suite. Returns undefined if no PostgreSQL answers; skip the suite with
 * `describe.skipIf`, and the run reports it at its end. In CI this throws instead.
 */
export function testDatabase(): Promise<TestDatabase | undefined> {
  return createDatabase("template1");
}

/** Creates a migrated database for one suite, in the same way: a copy of the one that `template-setup.ts` migrates. */
export function migratedDatabase(): Promise<TestDatabase | undefined> {
  return createDatabase(inject("migratedTemplate"));
}

/** Whether a PostgreSQL server lets the tests in. If it refuses them, the suites that need it report that. */
export async function isServerUsable(url: string): Promise<boolean> {
  return execute(url, "SELECT 1").then(
    () => true,
    () => false,
  );
}

async function createDatabase(template: string): Promise<TestDatabase | undefined> {
  const server = environment.databaseUrl;
  const name = `tss_test_${randomUUID().replaceAll("-", "")}`;
  try {
    await execute(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
    // The server does not crash in a test, so commits need not wait for the disk.
    await execute(server, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  } catch (error) {
    if (!isUnreachable(error)) throw error;
    serverMissing("PostgreSQL", server, "races");
    return undefined;
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function execute(url: string, statement: string): Promise<void> {
  const client = await openTestClient({ connectionString: url, connectionTimeoutMillis: 5_000 });
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

const UNREACHABLE = ["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT"];

/** Whether nothing listens there. A server that refuses is an error, not a reason to skip. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Error && "code" in error && UNREACHABLE.includes(String(error.code));
}
