import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads the time limits of the database. */
export function readDatabaseConfig(read: ConfigReader<VariableName>): DatabaseConfig {
  return {
    statementTimeoutMs: read.integer("DATABASE_STATEMENT_TIMEOUT_MS", 1_000, 600_000),
    migrationLockWaitMs: 1_000 * read.integer("MIGRATION_LOCK_WAIT_SECONDS", 1, 86_400),
  };
}

/** The time limits of the database. */
export interface DatabaseConfig {
  /** The time after which the server ends a statement of a call or a worker. */
  readonly statementTimeoutMs: number;
  /** The total wait of migrations for locks at one start. */
  readonly migrationLockWaitMs: number;
}

/** The variables that {@link readDatabaseConfig} reads. */
export const DATABASE_VARIABLES = [
  {
    name: "DATABASE_STATEMENT_TIMEOUT_MS",
    default: "15000",
    description: "Time limit of a PostgreSQL statement of a call or a worker, 1000 to 600000",
  },
  {
    name: "MIGRATION_LOCK_WAIT_SECONDS",
    default: "300",
    description:
      "Time for which migrations retry a lock that a backup or another transaction holds, 1 to 86400; calls continue meanwhile",
  },
  {
    name: "RETENTION_DAYS",
    default: "30",
    description:
      "Days after which the service removes users' halves and stored transactions of ended rows, and expired reservations; 0: never",
  },
] as const;
