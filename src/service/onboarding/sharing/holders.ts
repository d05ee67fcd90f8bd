import sql from "sql-template-tag";
import type { RemoveHolderRequest } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { type Database, execute, type Queryable } from "../../platform/store/database.ts";
import { type Reaching, withinReach } from "../../users/reach.ts";
import { dwalletNotFound, findDWallet } from "../dwallet-row.ts";
import type { OnboardingCaller, OnboardingDeps } from "../onboarding-deps.ts";
import { holderEventInsert } from "./holder-event.ts";
import { holderNotFound, readShares, type ShareRow, seesShare } from "./share-row.ts";

/**
 * Returns the holders of a dWallet that the caller sees: first those whose share is not final, and of both the newest
 * first. Throws DWALLET_NOT_FOUND unless the caller is the dWallet's owner or one of them.
 */
export async function listHolders(
  database: Database,
  caller: Reaching,
  dwalletId: string,
): Promise<ShareRow[]> {
  await requireSeen(database, caller, dwalletId);
  const where = sql`${seesShare(caller)} AND d.object_id = ${dwalletId} AND s.state <> 'Failed'`;
  return await readShares(database, where, LISTED_MAX_COUNT);
}

const LISTED_MAX_COUNT = 50;

/** Throws DWALLET_NOT_FOUND unless the dWallet is within the caller's reach, or the caller sees a share of it. */
export async function requireSeen(db: Queryable, caller: Reaching, dwalletId: string): Promise<void> {
  const seenCount = await execute(
    db,
    sql`SELECT 1 FROM dwallet d WHERE d.object_id = ${dwalletId} AND d.project_id = ${caller.projectId}::uuid AND (
          (${withinReach(caller, sql`d`)})
          OR EXISTS (SELECT FROM dwallet_share s WHERE s.dwallet_id = d.id AND s.state <> 'Failed' AND ${seesShare(caller)}))`,
  );
  if (seenCount === 0) throw dwalletNotFound(dwalletId);
}

/**
 * Ends a holder's use of a dWallet. A reservation of the holder that is not submitted can no longer be. Throws
 * DWALLET_NOT_FOUND, HOLDER_NOT_FOUND, and WRONG_STATE while the network has not verified the share.
 */
export async function removeHolder(
  { database }: Pick<OnboardingDeps, "database">,
  caller: OnboardingCaller,
  { dwalletId, holderAddress }: RemoveHolderRequest,
): Promise<ShareRow> {
  const dwallet = await findDWallet(database, caller, dwalletId);
  return await database.transaction(async (db) => {
    // Reservations, submissions and acceptances lock the same row. A submission waits for FOR UPDATE alone.
    await execute(db, sql`SELECT 1 FROM dwallet WHERE id = ${dwallet.id} FOR UPDATE`);
    const ofHolder = sql`s.dwallet_id = ${dwallet.id} AND k.signer_address = ${holderAddress} AND s.state <> 'Failed'`;
    const [row] = await readShares(db, ofHolder, 1);
    if (row === undefined) throw holderNotFound(dwalletId);
    const { id, state, userReference } = row;
    if (state === "Removed" || state === "NetworkVerificationRejected") return row;
    if (state !== "Accepted" && state !== "AwaitingAcceptance")
      throw new ServiceError("WRONG_STATE", "the network has yet to verify the share; try again", {
        metadata: { state },
      });
    await execute(
      db,
      sql`WITH removed AS (
            UPDATE dwallet_share SET state = 'Removed', removed_at = now(), updated_at = now()
            WHERE id = ${id} AND state IN ('AwaitingAcceptance', 'Accepted')
            RETURNING dwallet_id, encryption_key_id, user_reference
          )
          ${holderEventInsert("dwallet.holder_removed", sql`removed`)}`,
    );
    await execute(
      db,
      sql`UPDATE dwallet SET holder_users = array_remove(holder_users, ${userReference}::text), updated_at = now()
          WHERE id = ${dwallet.id} AND NOT EXISTS (
            SELECT FROM dwallet_share o
            WHERE o.dwallet_id = ${dwallet.id} AND o.user_reference = ${userReference}::text AND o.state = 'Accepted')`,
    );
    const { projectId, origin } = caller;
    await writeAuditEvent(db, origin, { projectId, action: "dwallet.remove-holder", subject: id });
    return (await readShares(db, sql`s.id = ${id}`, 1))[0] ?? row;
  });
}
