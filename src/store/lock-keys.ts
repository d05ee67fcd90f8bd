/** Keys of PostgreSQL's advisory locks, here together so that no two parts ever shut each other out. */
export const LOCK_KEYS = {
  /** The one that Prisma's own engine locks with, so that `prisma migrate deploy` and `migrate` exclude each other. */
  migration: 72_707_369,
  /** One planner of presigns at a time: two would each fill the same gap. */
  presignPlanner: 72_707_370,
  /** One sealer of the audit trail at a time. */
  auditSealer: 72_707_371,
  /** One verification of the ledger at a time: it reads all there is. */
  ledgerVerification: 72_707_372,
} as const;
