import type { ConfigVariable } from "./config-variable.ts";

/** The variables of the database's limits, a part of the table of all variables. */
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
] as const satisfies readonly ConfigVariable[];
