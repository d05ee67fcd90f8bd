import sql from "sql-template-tag";
import type { Config } from "../../../config/config.ts";
import { boolean, number, text } from "../../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../../platform/store/database.ts";
import { readMigrations } from "../../../platform/store/migrate.ts";
import { postgresPlace } from "../../../platform/store/open-postgres.ts";
import { isSchemaMissing } from "../../../platform/store/sql-errors.ts";
import {
  type Finding,
  type HealthCheck,
  type HealthDatabase,
  type HealthNetwork,
  type HealthSubject,
  reachable,
} from "./health-check.ts";

/** Returns the checks of the database and its migrations. */
export function databaseChecks(subject: HealthSubject): HealthCheck[] {
  return [
    {
      name: "database",
      advice: "check that PostgreSQL runs and that DATABASE_URL names it with a user that may connect",
      readiness: {
        isVital: true,
        reason:
          "PostgreSQL at DATABASE_URL does not answer: check that it runs and has free connections for this replica",
      },
      look: async () => lookAtServer(subject.config, await subject.database()),
    },
    {
      name: "migrations",
      advice: "check that the user of DATABASE_URL may read the table _prisma_migrations",
      readiness: {
        isVital: true,
        needs: "database",
        reason: "the database lacks migrations of this version: run `tss migrate`, or restart this replica",
      },
      look: async () => lookAtMigrations(await reachable(subject), subject.isRunning),
    },
  ];
}

/** PostgreSQL 13, in the server's version format. */
const OLDEST_VERSION = 130_000;
const MIGRATE = "run `tss migrate`, or start the service, which also migrates";

const POOLER_ADVICE =
  "unset DATABASE_POOLER, or set it to transaction; keep none only if the pooler keeps each session for its client";

async function lookAtServer(
  { databaseUrl, database: { pooler } }: Config,
  database: HealthDatabase,
): Promise<Finding> {
  if (database.kind === "out-of-reach") return { status: "info", found: database.why };
  const beganMs = performance.now();
  const [row] = await readRows(
    database.db,
    sql`SELECT current_setting('server_version') AS name, current_setting('server_version_num')::int AS number`,
    { name: text, number },
  );
  const latencyMs = Math.round(performance.now() - beganMs);
  if (database.kind === "pglite") return { status: "ok", found: "embedded, for one process" };
  const { isPooled = false } = database;
  const place = `${postgresPlace(databaseUrl?.reveal() ?? "")}${isPooled ? ", through a pooler" : ""}`;
  const found = `PostgreSQL ${row?.name} at ${place}, ${latencyMs} ms`;
  if (isPooled && pooler === "none")
    return { status: "warn", found: `${found}, and DATABASE_POOLER=none`, advice: POOLER_ADVICE };
  if ((row?.number ?? 0) >= OLDEST_VERSION) return { status: "ok", found };
  return { status: "fail", found, advice: "move to PostgreSQL 13 or newer" };
}

async function lookAtMigrations(db: Queryable, isRunning: boolean): Promise<Finding> {
  const known = await readMigrations();
  // The service migrates at startup, so a running one lacks nothing.
  const missing = isRunning ? "fail" : "warn";
  const applied = await readApplied(db);
  if (applied === undefined) return { status: missing, found: "the database is empty", advice: MIGRATE };
  const failed = applied.find(({ isFinished }) => !isFinished);
  if (failed !== undefined) {
    return {
      status: "fail",
      found: `migration ${failed.name} failed`,
      advice:
        "check its row in _prisma_migrations, repair the database, and mark the migration with `prisma migrate resolve`",
    };
  }
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]));
  const pending = known.filter(({ name }) => !checksums.has(name));
  if (pending.length > 0)
    return { status: missing, found: `not yet applied: ${namesOf(pending)}`, advice: MIGRATE };
  const unknown = applied.filter(({ name }) => !known.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    return {
      status: "warn",
      found: `applied by a newer version: ${namesOf(unknown)}`,
      advice: "finish the upgrade: run the same version as the other replicas",
    };
  }
  const edited = known.filter(({ name, checksum }) => checksums.get(name) !== checksum);
  if (edited.length > 0) {
    return {
      status: "warn",
      found: `edited after they were applied: ${namesOf(edited)}`,
      advice: "run a released version; migrations are never edited",
    };
  }
  return { status: "ok", found: `all ${known.length} applied` };
}

interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly isFinished: boolean;
}

async function readApplied(db: Queryable): Promise<AppliedMigration[] | undefined> {
  try {
    return await readRows<AppliedMigration>(
      db,
      sql`SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS "isFinished"
          FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY migration_name`,
      { name: text, checksum: text, isFinished: boolean },
    );
  } catch (error) {
    if (isSchemaMissing(error)) return undefined;
    throw error;
  }
}

const namesOf = (migrations: readonly { readonly name: string }[]): string =>
  migrations.map(({ name }) => name).join(", ");

/** Returns the check of Redis, through which replicas share wake-ups and rate limits. */
export function redisCheck({ config, askRedis }: Pick<HealthSubject, "config" | "askRedis">): HealthCheck {
  const isConfigured = config.redisUrl !== undefined;
  return {
    name: "redis",
    advice:
      "check that Redis runs and that REDIS_URL names it; until then each replica has its own limits and wake-ups",
    readiness: isConfigured
      ? {
          isVital: false,
          reason:
            "Redis at REDIS_URL does not answer: until it does, this replica counts limits on its own and wake-ups are late",
        }
      : undefined,
    look: async () =>
      isConfigured
        ? await askRedis()
        : { status: "info", found: "none; each replica has its own limits and wake-ups" },
  };
}

/**
 * Returns the check whether a running replica has opened a network. The doctor, which opens networks itself, has no
 * such check.
 */
export function openCheck({ isOpen }: HealthNetwork): HealthCheck[] {
  if (isOpen === undefined) return [];
  return [
    {
      name: "open",
      advice: "check the replica's log",
      readiness: {
        isVital: false,
        reason:
          "this replica has not opened the network yet and refuses its calls: check its log, which has the cause of each attempt",
      },
      async look() {
        if (!isOpen()) throw new Error("not open");
        return { status: "ok", found: "open" };
      },
    },
  ];
}
