import sql from "sql-template-tag";
import { text } from "../../store/columns.ts";
import type { Database } from "../../store/database.ts";
import { execute, readRows } from "../../store/statements.ts";
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
  const want = () =>
    readRows(
      database,
      sql`UPDATE deposit_address SET wanted_at = now(), due_at = least(due_at, now() + interval '1 second')
          WHERE project_id = ${projectId} AND network = ${network} RETURNING address`,
      { address: text },
    );
  let [row] = await want();
  if (row === undefined) {
    // Other first calls may insert it at the same moment. Both its address and its project are unique.
    await execute(
      database,
      sql`INSERT INTO deposit_address (address, project_id, network) VALUES (${address}, ${projectId}, ${network})
          ON CONFLICT DO NOTHING`,
    );
    [row] = await want();
  }
  if (row?.address !== address)
    throw new Error("the project's deposit address belongs to another master seed");
  return address;
}

/**
 * Throws if the database has deposit addresses of another master seed: the service could credit coins that arrive
 * there, but never sweep them.
 */
export async function checkMasterSeed(
  { prisma }: Pick<Database, "prisma">,
  { network, masterSeed }: Pick<Deposits, "network" | "masterSeed">,
): Promise<void> {
  const known = await prisma.depositAddress.findFirst({
    where: { network },
    select: { address: true, projectId: true },
  });
  if (known === null) return;
  if (deriveDepositAddress(masterSeed, network, known.projectId) !== known.address) {
    throw new Error(
      "BILLING_DEPOSIT_MASTER_SEED_HEX: this database's deposit addresses follow from another seed; set that one",
    );
  }
}
