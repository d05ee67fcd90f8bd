const UNIQUE_VIOLATION = "23505";
const DEADLOCK_DETECTED = "40P01";
const LOCK_NOT_AVAILABLE = "55P03";
/** A missing table or column: PostgreSQL's SQLSTATEs, and the codes of Prisma's client for them. */
const SCHEMA_MISSING: readonly unknown[] = ["42P01", "42703", "P2021", "P2022"];

/** Whether a statement failed because of this unique index or constraint. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === UNIQUE_VIOLATION &&
    "constraint" in error &&
    error.constraint === constraint
  );
}

/** Whether a statement waited for a lock longer than its `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE;
}

/** Whether a statement was ended because it and others waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === DEADLOCK_DETECTED;
}

/** Whether a statement failed because the database lacks a table or a column: it was not migrated to this version. */
export function isSchemaMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && SCHEMA_MISSING.includes(error.code);
}
