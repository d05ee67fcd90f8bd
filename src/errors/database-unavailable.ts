/**
 * Returns true if a statement failed because the database is unreachable, overloaded or too slow, or closed the
 * connection. Such failures are temporary. Recognizes the errors of `pg` and of Prisma.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (DRIVER.test(error.message)) return true;
  const codes = [fieldOf(error, "code"), originalCode(error)];
  return codes.some(
    (code) => typeof code === "string" && [SQL_STATE, SYSTEM, PRISMA].some((pattern) => pattern.test(code)),
  );
}

/**
 * The SQLSTATEs of a server that stops, starts, is full or too slow: class 08; admin_shutdown, crash_shutdown,
 * cannot_connect_now, idle_session_timeout; too_many_connections, out_of_memory; query_canceled, which
 * statement_timeout causes; lock_not_available; idle_in_transaction_session_timeout; and read_only_sql_transaction,
 * which a server returns after it became a standby.
 */
const SQL_STATE = /^(08\w{3}|57P0[1235]|53300|53200|57014|55P03|25P03|25006)$/;
const SYSTEM = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** Prisma's codes: not reachable, timed out, closed, too many connections. */
const PRISMA = /^(P1001|P1002|P1008|P1017|P2037)$/;
/** Failures to which `pg` gives no code. The last one is a full pool. */
const DRIVER =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

/** The driver's code, if Prisma wrapped the driver's error. */
function originalCode(error: Error): unknown {
  return ["meta", "driverAdapterError", "cause", "originalCode"].reduce<unknown>(fieldOf, error);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
