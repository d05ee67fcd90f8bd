import type { Queryable } from "../../store/database.ts";
import { deriveDepositAddress } from "./deposit-key.ts";
import type { Deposits } from "./deposits.ts";

/**
 * The project's deposit address. The service watches it from the first call on, and more often for a while after each
 * call, but at most once a second.
 */
export async function depositAddress(
  { database, network, masterSeed }: Pick<Deposits, "database" | "network" | "masterSeed">,
  projectId: string,
): Promise<string> {
  const address = deriveDepositAddress(masterSeed, network, projectId);
  const want = () => database.query<{ address: string }>(WANT, [projectId, network]);
  let [row] = await want();
  if (row === undefined) {
    // Other first calls may insert it at the same moment. Both its address and its project are unique.
    await database.query(
      "INSERT INTO deposit_address (address, project_id, network) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
      [address, projectId, network],
    );
    [row] = await want();
  }
  if (row?.address !== address)
    throw new Error("the project's deposit address belongs to another master seed");
  return address;
}

const WANT = `
UPDATE deposit_address SET wanted_at = now(), due_at = least(due_at, now() + interval '1 second')
WHERE project_id = $1 AND network = $2 RETURNING address`;

/**
 * Throws if the database has deposit addresses of another master seed: the service could credit coins that arrive
 * there, but never sweep them.
 */
export async function checkMasterSeed(
  db: Queryable,
  { network, masterSeed }: Pick<Deposits, "network" | "masterSeed">,
): Promise<void> {
  const [known] = await db.query<{ address: string; projectId: string }>(
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
