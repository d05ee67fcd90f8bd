/** Returns host and database of a PostgreSQL URL, without user and password. */
export function postgresPlace(databaseUrl: string): string {
  const { host, pathname } = new URL(databaseUrl);
  return `${host || "the local socket"}${pathname}`;
}
