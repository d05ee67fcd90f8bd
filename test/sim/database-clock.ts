import type { Database } from "../../src/store/database.ts";

/**
 * The database tells the simulation's time. Every statement of ours asks PostgreSQL what time it is, by functions that
 * it finds on its search path; so a schema that stands there before `pg_catalog` puts others in their place, and the
 * statements stay as they are. What they tell is in a sequence, because that changes at once for all sessions, in and
 * out of transactions. Within one statement or transaction time may therefore pass, which it does for
 * `clock_timestamp()` alone in PostgreSQL; nothing here relies on it standing still. Defaults of columns are bound to
 * PostgreSQL's functions when a table is made, so they are bound anew.
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
