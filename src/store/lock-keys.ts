/** The keys of PostgreSQL's advisory locks, in one place so that no two parts share a key. */
export const LOCK_KEYS = {
  /** The key of Prisma's own engine, so that `prisma migrate deploy` and `migrate` exclude each other. */
  migration: 72_707_369,
  /** Used with the network: one planner of its presigns at a time, because two would fill the same gap. */
  presignPlanner: 72_707_370,
  /** One sealer of the audit trail at a time. */
  auditSealer: 72_707_371,
  /** One verification of the ledger at a time, because it reads all of it. */
  ledgerVerification: 72_707_372,
  /** One process at a time marks itself as running, so that no two miss each other. */
  processMarks: 72_707_373,
} as const;
