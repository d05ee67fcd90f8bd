import sql from "sql-template-tag";
import { topics } from "../../platform/coordination/topics.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { number, text } from "../../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Secret } from "../../platform/telemetry/secret.ts";
import { ensureUser } from "../../users/ensure-user.ts";
import type { Deposits } from "./deposits.ts";
import { type DepositOwner, deriveDepositAddress, requestAddress } from "./request-address.ts";

/**
 * Returns the deposit address of the project, or of one of its references. The service watches it from the first call
 * on, and scans it more often for a while after each call, at most once a second. A process without the master seed asks
 * others for a new address. A reference is a user's, who then exists. Throws TOO_MANY_DEPOSIT_REFERENCES for a new
 * reference beyond the project's limit, USER_DELETED and TOO_MANY_USERS for a new address of such a user, and
 * DEPOSIT_ADDRESS_PENDING if no process makes the address.
 */
export async function depositAddress(deposits: AddressDeps, owner: DepositOwner): Promise<string> {
  const { database, network, masterSeed, requests } = deposits;
  const { projectId, reference } = owner;
  const want = () =>
    readRows(
      database,
      sql`UPDATE deposit_address SET wanted_at = now(), due_at = least(due_at, now() + interval '1 second')
          WHERE project_id = ${projectId} AND network = ${network} AND reference = ${reference} RETURNING address`,
      { address: text },
    );
  let [row] = await want();
  if (row === undefined) {
    if (masterSeed !== undefined) await database.transaction((db) => insertAddress(db, deposits, owner));
    else if (requests !== undefined)
      await requestAddress({ database, network, requests }, owner, (db) =>
        insertRequest(db, deposits, owner),
      );
    [row] = await want();
  }
  if (row === undefined) throw new Error("the deposit address was not stored");
  requests?.signals.notify(topics.depositDue(network));
  const isOurs = masterSeed === undefined || row.address === deriveDepositAddress(masterSeed, network, owner);
  if (!isOurs) throw new Error("the deposit address belongs to another master seed");
  return row.address;
}

type AddressDeps = Pick<
  Deposits,
  "database" | "network" | "masterSeed" | "maxReferences" | "usersMaxCount" | "requests"
>;

/**
 * Makes one requested address. Its request was counted against the project's limits, and its user existed then. A user
 * that was deleted since gets the address too, because a request that can never be fulfilled would hold up all others.
 */
export async function makeRequestedAddress(
  db: Queryable,
  deposits: Pick<Deposits, "network" | "masterSeed">,
  owner: DepositOwner,
): Promise<void> {
  // Counted again below, so it is removed first. The lock on the project's count is held until both are done.
  if (owner.reference !== "") await lockReferenceCount(db, owner.projectId);
  await execute(
    db,
    sql`DELETE FROM deposit_address_request
        WHERE project_id = ${owner.projectId} AND network = ${deposits.network} AND reference = ${owner.reference}
        RETURNING reference`,
  );
  const limits = { maxReferences: Number.POSITIVE_INFINITY, usersMaxCount: undefined };
  await insertAddress(db, { ...deposits, ...limits }, owner);
}

/**
 * Inserts the address once, even if first calls race. The lock on the project's count keeps the count exact. Without a
 * maximum of users, the reference's user was counted before.
 */
async function insertAddress(
  db: Queryable,
  { network, masterSeed, maxReferences, usersMaxCount }: NewAddressDeps,
  { projectId, reference }: DepositOwner,
): Promise<void> {
  if (masterSeed === undefined) throw new Error("this process has no master seed");
  const address = deriveDepositAddress(masterSeed, network, { projectId, reference });
  const count = reference === "" ? 0 : await lockReferenceCount(db, projectId);
  const insertedCount = await execute(
    db,
    sql`INSERT INTO deposit_address (address, project_id, network, reference)
        VALUES (${address}, ${projectId}, ${network}, ${reference}) ON CONFLICT DO NOTHING RETURNING address`,
  );
  if (reference === "" || insertedCount === 0) return;
  if (count >= maxReferences) throw tooManyReferences(maxReferences);
  if (usersMaxCount !== undefined) await ensureUser(db, { projectId, reference }, usersMaxCount);
  await execute(
    db,
    sql`UPDATE deposit_reference_count SET count = count + 1 WHERE project_id = ${projectId}::uuid`,
  );
}

type NewAddressDeps = Pick<AddressDeps, "network" | "masterSeed" | "maxReferences"> & {
  readonly usersMaxCount: number | undefined;
};

/** Stores a request for the address, unless the address or the request exists. Requests count like addresses. */
async function insertRequest(
  db: Queryable,
  { network, maxReferences, usersMaxCount }: Pick<AddressDeps, "network" | "maxReferences" | "usersMaxCount">,
  { projectId, reference }: DepositOwner,
): Promise<void> {
  const count = reference === "" ? 0 : await lockReferenceCount(db, projectId);
  const insertedCount = await execute(
    db,
    sql`INSERT INTO deposit_address_request (project_id, network, reference)
        SELECT ${projectId}::uuid, ${network}, ${reference} WHERE NOT EXISTS (
          SELECT 1 FROM deposit_address
          WHERE project_id = ${projectId}::uuid AND network = ${network} AND reference = ${reference})
        ON CONFLICT DO NOTHING RETURNING reference`,
  );
  if (reference === "" || insertedCount === 0) return;
  const [asked] = await readRows(
    db,
    sql`SELECT count(*)::int AS count FROM deposit_address_request
        WHERE project_id = ${projectId} AND reference <> ''`,
    { count: number },
  );
  if (count + (asked?.count ?? 0) > maxReferences) throw tooManyReferences(maxReferences);
  await ensureUser(db, { projectId, reference }, usersMaxCount);
}

function tooManyReferences(maxCount: number): ServiceError {
  return new ServiceError(
    "TOO_MANY_DEPOSIT_REFERENCES",
    `the project may have ${maxCount} deposit addresses with a reference`,
    { metadata: { maxCount: String(maxCount) } },
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
  { prisma }: Database,
  { network, masterSeed }: { readonly network: string; readonly masterSeed: Secret<Uint8Array> },
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
