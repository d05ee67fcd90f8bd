import type { Database } from "../../src/service/platform/store/database.ts";

/**
 * The database's time is the simulation's time. PostgreSQL looks functions up on the search path, so a schema before
 * `pg_catalog` replaces the functions that return the time, and the statements stay as they are. The replacements read
 * a sequence, because a sequence changes at once for all sessions, inside and outside of transactions. Time may
 * therefore pass within a statement or a transaction, which happens only to `clock_timestamp()` in PostgreSQL; nothing
 * here relies on the opposite. Column defaults are bound to PostgreSQL's functions when a table is created, so they are
 * bound again.
 */
export async function installClock(database: Pick<Database, "query">): Promise<void> {
  await database.query(`
    CREATE SCHEMA sim;
    CREATE SEQUENCE sim.clock MINVALUE 0;
    ${["clock_timestamp", "statement_timestamp", "transaction_timestamp", "now"].map(tellTime).join("")}
    DO $$
    DECLARE rebind text;
    BEGIN
      FOR rebind IN
        SELECT format('ALTER TABLE %s ALTER %I SET DEFAULT sim.now()', adrelid::regclass, attname)
        FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
        WHERE pg_get_expr(adbin, adrelid) IN ('CURRENT_TIMESTAMP', 'now()')
      LOOP EXECUTE rebind;
      END LOOP;
      EXECUTE format('ALTER DATABASE %I SET search_path = sim, pg_catalog, public', current_database());
    END $$`);
}

/** The sequence holds milliseconds since the epoch. */
function tellTime(name: string): string {
  return `CREATE FUNCTION sim.${name}() RETURNS timestamptz LANGUAGE sql STABLE RETURN
      timestamptz 'epoch' + pg_sequence_last_value('sim.clock') * interval '1 millisecond';\n`;
}
