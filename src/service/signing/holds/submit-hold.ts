import sql, { type Sql } from "sql-template-tag";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { number } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";

/**
 * Makes a transaction wait until no other one adds held halves to the project. It waits for a lock for three seconds at
 * most, because it has one of the process's connections meanwhile. Then PostgreSQL ends it with lock_not_available, which
 * the caller gets as DATABASE_UNAVAILABLE.
 */
export async function lockHolds(db: Queryable, projectId: string): Promise<void> {
  await execute(db, sql`SET LOCAL lock_timeout = '3s'`);
  await execute(db, sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sign holds of ${projectId}`}, 0))`);
}

/**
 * Returns TOO_MANY_RESERVATIONS if the project, the user or the dWallet has as many held halves as it may have, or the
 * Treasury keeps as many halves of the dWallet as it can. Call it after {@link lockHolds}, in the transaction that adds one.
 */
export async function findHoldRefusal(
  db: Queryable,
  { projectId, signRequestId }: { readonly projectId: string; readonly signRequestId: string },
): Promise<ServiceError | undefined> {
  const [count] = await readRows(
    db,
    sql`WITH own AS MATERIALIZED (
          SELECT s.dwallet_id, w.user_reference FROM sign_request s JOIN dwallet w ON w.id = s.dwallet_id
          WHERE s.id = ${signRequestId})
        SELECT count(*)::int AS "ofProject",
          (count(*) FILTER (WHERE d.user_reference = (SELECT user_reference FROM own)))::int AS "ofUser",
          (count(*) FILTER (WHERE r.dwallet_id = (SELECT dwallet_id FROM own)))::int AS "ofDWallet",
          (count(*) FILTER (WHERE r.dwallet_id = (SELECT dwallet_id FROM own) AND r.hold_object_id IS NULL)
            + (SELECT count(*) FROM sign_request k
               WHERE k.dwallet_id = (SELECT dwallet_id FROM own) AND ${isKept(sql`k`)}))::int AS "ofTreasury"
        FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id
        WHERE r.project_id = ${projectId}::uuid AND ${isHolding}`,
    { ofProject: number, ofUser: number, ofDWallet: number, ofTreasury: number },
  );
  if (count === undefined) throw new Error("the database counts no halves");
  if (count.ofDWallet >= HOLDS_OF_DWALLET_MAX_COUNT) return tooMany("dWallet", HOLDS_OF_DWALLET_MAX_COUNT);
  if (count.ofUser >= HOLDS_OF_USER_MAX_COUNT) return tooMany("user", HOLDS_OF_USER_MAX_COUNT);
  if (count.ofProject >= HOLDS_OF_PROJECT_MAX_COUNT) return tooMany("project", HOLDS_OF_PROJECT_MAX_COUNT);
  if (count.ofTreasury >= TREASURY_HALVES_MAX_COUNT) return treasuryFull();
  return undefined;
}

/** The condition that a request `r` has a half that is neither released nor ended. */
export const isHolding = sql`r.status = 'queued' AND r.hold_state IN ('sending', 'verifying', 'held')`;

/**
 * The condition that the Treasury keeps the half of a request: it is sent, no signature was requested from it, and its
 * last epoch may not have passed. An ended half stays in the Treasury's list until then.
 */
const isKept = (k: Sql): Sql =>
  sql`${k}.hold_object_id IS NOT NULL AND ${k}.tx_digest IS NULL AND ${k}.hold_expires_at > now() - interval '4 days'`;

/** The maximum number of halves that the Treasury keeps for a dWallet. It refuses more, and a refusal burns a presign. */
export const TREASURY_HALVES_MAX_COUNT = 64;
/** Half of what the Treasury keeps for a dWallet, because a half that was cancelled stays there until it expires. */
export const HOLDS_OF_DWALLET_MAX_COUNT = 32;
/** A fraction of a project's, so that one user's sessions leave room for the holds of the others. */
export const HOLDS_OF_USER_MAX_COUNT = 128;
export const HOLDS_OF_PROJECT_MAX_COUNT = 1_000;

function tooMany(owner: string, maxCount: number): ServiceError {
  const message = `the ${owner} has ${maxCount} held halves, which is its limit; release or cancel some of them`;
  return new ServiceError("TOO_MANY_RESERVATIONS", message, { metadata: { maxCount: String(maxCount) } });
}

function treasuryFull(): ServiceError {
  const message = `the chain keeps ${TREASURY_HALVES_MAX_COUNT} halves of the dWallet, which is its limit; it keeps ended ones until some days after their hold`;
  return new ServiceError("TOO_MANY_RESERVATIONS", message, {
    metadata: { maxCount: String(TREASURY_HALVES_MAX_COUNT) },
  });
}
