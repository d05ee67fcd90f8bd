const UNIQUE_VIOLATION = "23505";
const DEADLOCK_DETECTED = "40P01";
const LOCK_NOT_AVAILABLE = "55P03";
/** The codes of a missing table or column: PostgreSQL's SQLSTATEs, and those of Prisma's client. */
const SCHEMA_MISSING: readonly unknown[] = ["42P01", "42703", "P2021", "P2022"];

/** Returns true if a statement violated this unique index or constraint. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === UNIQUE_VIOLATION &&
    "constraint" in error &&
    error.constraint === constraint
  );
}

/** Returns true if a statement waited longer than its `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE;
}

/** Returns true if PostgreSQL ended a statement because of a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === DEADLOCK_DETECTED;
}

/** Returns true if the database lacks a table or a column because it has not been migrated to this version. */
export function isSchemaMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && SCHEMA_MISSING.includes(error.code);
}
