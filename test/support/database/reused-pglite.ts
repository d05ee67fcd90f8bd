import { PGlite } from "@electric-sql/pglite";

/**
 * Returns an open PGlite with the rows of the snapshot, which is the data folder of a database as a tar file. The test
 * files of a worker share a few of them, because emptying one takes a tenth of the time that opening one takes.
 */
export async function takePglite(snapshot: () => Promise<Blob>): Promise<ReusedPglite> {
  const kept = shelf.pop();
  if (kept !== undefined) return kept;
  const pglite = await PGlite.create({ loadDataDir: await snapshot() });
  const schema = await schemaOf(pglite);
  const seeds = await readSeeds(pglite);
  const close = pglite.close.bind(pglite);
  return Object.assign(pglite, {
    async close() {
      if (shelf.length < KEPT_COUNT && (await isRestored(pglite, schema, seeds))) shelf.push(pglite);
      else await close();
    },
  });
}

/** A PGlite that `close` puts back on the worker's shelf, if there is room and if it could be restored. */
export type ReusedPglite = Pick<PGlite, "waitReady" | "execProtocolStream" | "close">;

const shelf: ReusedPglite[] = [];
/** Most test files open one database. */
const KEPT_COUNT = 2;

/** The rows that the migrations have made, by table. */
type Seeds = ReadonlyMap<string, string>;

/** Puts the rows and the session of the snapshot back. Returns false if a test has changed the schema. */
async function isRestored(pglite: PGlite, schema: string, seeds: Seeds): Promise<boolean> {
  // A test may end within a transaction.
  await pglite.exec("ROLLBACK");
  await pglite.exec("DISCARD ALL");
  if ((await schemaOf(pglite)) !== schema) return false;
  // Otherwise triggers would refuse the change of tables that are append-only.
  await pglite.exec("SET session_replication_role = replica");
  const filled = await filledTables(pglite);
  if (filled.length > 0) await pglite.exec(`TRUNCATE ${filled.map(quoted).join()} CASCADE`);
  for (const [table, rows] of seeds)
    await pglite.query(
      `INSERT INTO ${quoted(table)} SELECT * FROM json_populate_recordset(NULL::${quoted(table)}, $1)`,
      [rows],
    );
  await pglite.exec(
    `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
     FROM pg_sequences WHERE last_value IS NOT NULL`,
  );
  await pglite.exec("DISCARD ALL");
  return true;
}

async function readSeeds(pglite: PGlite): Promise<Seeds> {
  const seeds = new Map<string, string>();
  for (const table of await filledTables(pglite)) {
    const { rows } = await pglite.query<{ seed: string }>(
      `SELECT json_agg(t)::text AS seed FROM ${quoted(table)} t`,
    );
    seeds.set(table, rows[0]!.seed);
  }
  return seeds;
}

/** Returns the names of the tables that have rows. */
async function filledTables(pglite: PGlite): Promise<string[]> {
  const { rows: tables } = await pglite.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  );
  const selects = tables.map(
    ({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM ${quoted(name)})`,
  );
  const { rows: filled } = await pglite.query<{ name: string }>(selects.join(" UNION ALL "));
  return filled.map(({ name }) => name);
}

/** Returns a digest of the schema, the functions, the roles and the settings, which must not outlive a test file. */
async function schemaOf(pglite: PGlite): Promise<string> {
  const { rows } = await pglite.query<{ digest: string }>(`
    SELECT md5(string_agg(part, E'\\n' ORDER BY part)) AS digest FROM (
      SELECT concat_ws(' ', 'class', oid, relname, relkind, reloptions, relacl, relrowsecurity) AS part
      FROM pg_class WHERE oid >= 16384
      UNION ALL SELECT concat_ws(' ', 'column', attrelid, attnum, attname, atttypid, attnotnull, attacl)
      FROM pg_attribute WHERE attrelid >= 16384
      UNION ALL SELECT concat_ws(' ', 'default', adrelid, adnum, pg_get_expr(adbin, adrelid)) FROM pg_attrdef
      UNION ALL SELECT concat_ws(' ', 'sequence', s) FROM pg_sequence s
      UNION ALL SELECT concat_ws(' ', 'type', oid, typname) FROM pg_type WHERE oid >= 16384
      UNION ALL SELECT concat_ws(' ', 'trigger', oid, tgname, tgenabled) FROM pg_trigger
      UNION ALL SELECT concat_ws(' ', 'constraint', oid, conname, convalidated) FROM pg_constraint
      UNION ALL SELECT concat_ws(' ', 'function', oid, md5(pg_get_functiondef(oid)))
      FROM pg_proc WHERE oid >= 16384 AND prokind IN ('f', 'p')
      UNION ALL SELECT concat_ws(' ', 'view', schemaname, viewname, md5(definition)) FROM pg_views
      UNION ALL SELECT concat_ws(' ', 'policy', p) FROM pg_policies p
      UNION ALL SELECT concat_ws(' ', 'role', r) FROM pg_roles r
      UNION ALL SELECT concat_ws(' ', 'schema', oid, nspname) FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_'
      UNION ALL SELECT concat_ws(' ', 'setting', setdatabase, setrole, setconfig) FROM pg_db_role_setting
    ) AS parts`);
  return rows[0]!.digest;
}

function quoted(name: string): string {
  return `"${name}"`;
}
