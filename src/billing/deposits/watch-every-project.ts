import type { Queryable } from "../../store/database.ts";
import { deriveDepositKey } from "./deposit-key.ts";
import type { Deposits } from "./deposits.ts";

/**
 * Starts to watch the deposit address of every project of the network, including projects whose request for an address
 * a restored database does not know.
 */
export async function watchEveryProject(
  db: Queryable,
  { network, masterSeed }: Pick<Deposits, "network" | "masterSeed">,
): Promise<void> {
  const projects = await db.query<{ id: string }>(
    `SELECT p.id FROM project p WHERE p.network = $1
       AND NOT EXISTS (SELECT 1 FROM deposit_address a WHERE a.project_id = p.id AND a.network = p.network)`,
    [network],
  );
  const addresses = projects.map(({ id }) => deriveDepositKey(masterSeed, network, id).toSuiAddress());
  await db.query(
    `INSERT INTO deposit_address (address, project_id, network)
     SELECT address, project_id, $3 FROM unnest($1::text[], $2::uuid[]) AS t (address, project_id)
     ON CONFLICT DO NOTHING`,
    [addresses, projects.map(({ id }) => id), network],
  );
}
