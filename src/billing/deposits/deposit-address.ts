import type { Sql } from "../../store/database.ts";
import { deriveDepositAddress } from "./deposit-key.ts";
import type { Deposits } from "./deposits.ts";

/**
 * The project's deposit address. From the first call on it is watched, and for a while after each call more often, but
 * at most once a second, however often it is asked for.
 */
export async function depositAddress(
  { database, network, masterSeed }: Pick<Deposits, "database" | "network" | "masterSeed">,
  projectId: string,
): Promise<string> {
  const address = deriveDepositAddress(masterSeed, network, projectId);
  const [row] = await database.query<{ address: string }>(
    `INSERT INTO deposit_address (address, project_id, network) VALUES ($1, $2, $3)
     ON CONFLICT (project_id, network) DO UPDATE SET wanted_at = now(),
       due_at = least(deposit_address.due_at, now() + interval '1 second')
     RETURNING address`,
    [address, projectId, network],
  );
  if (row?.address !== address) throw new Error("the project's deposit address is of another master seed");
  return address;
}

/**
 * Throws when the database has deposit addresses of another master seed: what arrives there could be credited, but
 * never be swept.
 */
export async function checkMasterSeed(
  sql: Sql,
  { network, masterSeed }: Pick<Deposits, "network" | "masterSeed">,
): Promise<void> {
  const [known] = await sql.query<{ address: string; projectId: string }>(
    `SELECT address, project_id AS "projectId" FROM deposit_address WHERE network = $1 LIMIT 1`,
    [network],
  );
  if (known === undefined) return;
  if (deriveDepositAddress(masterSeed, network, known.projectId) !== known.address) {
    throw new Error(
      "BILLING_DEPOSIT_MASTER_SEED_HEX: this database's deposit addresses follow from another seed; set that one",
    );
  }
}
