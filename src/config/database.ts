import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** Reads the limits of the database. */
export function readDatabaseConfig(read: ConfigReader<VariableName>): DatabaseConfig {
  return {
    poolSizeCount: read.integer("DATABASE_POOL_SIZE", 2, 500),
    pooler: read.oneOf("DATABASE_POOLER", ["auto", "none", "transaction"]),
    statementTimeoutMs: read.integer("DATABASE_STATEMENT_TIMEOUT_MS", 1_000, 600_000),
    migrationLockWaitMs: 1_000 * read.integer("MIGRATION_LOCK_WAIT_SECONDS", 1, 86_400),
  };
}

/** The limits of the database. */
export interface DatabaseConfig {
  /** The size of a connection pool. A process that serves several networks has one pool per network, and one more. */
  readonly poolSizeCount: number;
  /** What a pooler before the server does; `auto` looks for one. */
  readonly pooler: "auto" | "none" | "transaction";
  /** The time after which the server ends a statement of a call or a worker. */
  readonly statementTimeoutMs: number;
  /** The total wait of migrations for locks at one start. */
  readonly migrationLockWaitMs: number;
}

/** The variables that {@link readDatabaseConfig} reads. */
export const DATABASE_VARIABLES = [
  {
    name: "DATABASE_POOL_SIZE",
    default: "16",
    description:
      "Maximum number of a process's connections to PostgreSQL, 2 to 500; with several networks, that many more for each",
  },
  {
    name: "DATABASE_POOLER",
    default: "auto",
    description:
      "Whether a pooler before PostgreSQL may change the session with each transaction: transaction, none, or auto to look for a pooler at the start",
  },
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
