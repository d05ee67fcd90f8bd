import sql from "sql-template-tag";
import { text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { execute, readRows } from "../../store/statements.ts";
import { deriveDepositKey } from "./deposit-key.ts";
import type { Deposits } from "./deposits.ts";

/**
 * Starts to watch every project's own deposit address on the network, including projects whose request for an address
 * is missing in a restored database. Only a project knows its lost references. The service watches their addresses
 * again, and finds their coins, once the project requests them.
 */
export async function watchEveryProject(
  db: Queryable,
  { network, masterSeed }: Pick<Deposits, "network" | "masterSeed">,
): Promise<void> {
  if (masterSeed === undefined) throw new Error("this process has no master seed");
  const projects = await readRows(
    db,
    sql`SELECT p.id FROM project p WHERE p.network = ${network}
       AND NOT EXISTS (SELECT 1 FROM deposit_address a WHERE a.project_id = p.id AND a.network = p.network
         AND a.reference = '')`,
    { id: text },
  );
  const ids = projects.map(({ id }) => id);
  const addresses = ids.map((id) =>
    deriveDepositKey(masterSeed, network, { projectId: id, reference: "" }).toSuiAddress(),
  );
  await execute(
    db,
    sql`INSERT INTO deposit_address (address, project_id, network)
     SELECT address, project_id, ${network} FROM unnest(${addresses}::text[], ${ids}::uuid[]) AS t (address, project_id)
     ON CONFLICT DO NOTHING`,
  );
}
