import sql from "sql-template-tag";
import { ServiceError } from "../../errors/service-error.ts";
import { number, text } from "../../store/columns.ts";
import type { Database, Queryable } from "../../store/database.ts";
import { execute, readRows } from "../../store/statements.ts";
import { type DepositOwner, deriveDepositAddress } from "./deposit-key.ts";
import type { Deposits } from "./deposits.ts";

/**
 * Returns the deposit address of the project, or of one of its references. The service watches it from the first call
 * on, and scans it more often for a while after each call, at most once a second. Throws TOO_MANY_DEPOSIT_REFERENCES
 * for a new reference beyond the project's limit.
 */
export async function depositAddress(deposits: AddressDeps, owner: DepositOwner): Promise<string> {
  const { database, network, masterSeed } = deposits;
  const { projectId, reference } = owner;
  const address = deriveDepositAddress(masterSeed, network, owner);
  const want = () =>
    readRows(
      database,
      sql`UPDATE deposit_address SET wanted_at = now(), due_at = least(due_at, now() + interval '1 second')
          WHERE project_id = ${projectId} AND network = ${network} AND reference = ${reference} RETURNING address`,
      { address: text },
    );
  let [row] = await want();
  if (row === undefined) {
    await database.transaction((db) => insertAddress(db, deposits, owner, address));
    [row] = await want();
  }
  if (row?.address !== address) throw new Error("the deposit address belongs to another master seed");
  return address;
}

type AddressDeps = Pick<Deposits, "database" | "network" | "masterSeed" | "maxReferences">;

/** Inserts the address once, even if first calls race. The lock on the project's count keeps the count exact. */
async function insertAddress(
  db: Queryable,
  { network, maxReferences }: AddressDeps,
  { projectId, reference }: DepositOwner,
  address: string,
): Promise<void> {
  const count = reference === "" ? 0 : await lockReferenceCount(db, projectId);
  const insertedCount = await execute(
    db,
    sql`INSERT INTO deposit_address (address, project_id, network, reference)
        VALUES (${address}, ${projectId}, ${network}, ${reference}) ON CONFLICT DO NOTHING RETURNING address`,
  );
  if (reference === "" || insertedCount === 0) return;
  if (count >= maxReferences) {
    throw new ServiceError(
      "TOO_MANY_DEPOSIT_REFERENCES",
      `the project may have ${maxReferences} deposit addresses with a reference`,
      { metadata: { maxCount: String(maxReferences) } },
    );
  }
  await execute(
    db,
    sql`UPDATE deposit_reference_count SET count = count + 1 WHERE project_id = ${projectId}::uuid`,
  );
}

async function lockReferenceCount(db: Queryable, projectId: string): Promise<number> {
  const [counted] = await readRows(
    db,
    sql`INSERT INTO deposit_reference_count AS c (project_id, count) VALUES (${projectId}::uuid, 0)
        ON CONFLICT (project_id) DO UPDATE SET count = c.count RETURNING count`,
    { count: number },
  );
  if (counted === undefined) throw new Error(`the references of ${projectId} have no count`);
  return counted.count;
}

/**
 * Throws if the database has deposit addresses of another master seed, because the service could credit coins that
 * arrive there, but never sweep them.
 */
export async function checkMasterSeed(
  { prisma }: Pick<Database, "prisma">,
  { network, masterSeed }: Pick<Deposits, "network" | "masterSeed">,
): Promise<void> {
  const known = await prisma.depositAddress.findFirst({
    where: { network },
    select: { address: true, projectId: true, reference: true },
  });
  if (known === null) return;
  if (deriveDepositAddress(masterSeed, network, known) !== known.address) {
    throw new Error(
      "BILLING_DEPOSIT_MASTER_SEED_HEX: this database's deposit addresses follow from another seed; set that one",
    );
  }
}
