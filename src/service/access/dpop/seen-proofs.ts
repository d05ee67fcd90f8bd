import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import type { Coordination } from "../../platform/coordination/coordination.ts";
import { execute, type Queryable } from "../../platform/store/database.ts";
import { PROOF_LIFE_MS } from "./proof-nonces.ts";

/**
 * Creates the memory of used proofs, which replicas share through their coordination. If that cannot tell, the database
 * decides, and it decides too for as long as a proof lives after that, because it has the proofs of the outage.
 *
 * What remains: a proof that one replica noted in Redis shortly before an outage, or in the database while only that
 * replica had lost Redis, counts once more on another replica. Whoever replays it needs the token and a proof that was
 * used in the last six minutes, and can only call the same method at the same URL.
 */
export function createSeenProofs({
  db,
  coordination,
  now = () => performance.now(),
}: SeenProofsOptions): SeenProofs {
  const marks = coordination.marks("proof", PROOF_LIFE_MS);
  let databaseUntilMs = Number.NEGATIVE_INFINITY;
  return {
    async isFirst(name) {
      const hash = createHash("sha256").update(name).digest();
      const isNew = await marks.add(hash.toString("base64url"));
      if (isNew === undefined) databaseUntilMs = now() + PROOF_LIFE_MS;
      if (isNew === false) return false;
      return now() < databaseUntilMs ? insertProof(db, hash) : true;
    },
  };
}

/** Remembers proofs for as long as they could be accepted. */
export interface SeenProofs {
  /** True if nobody has asked for this name before, on any replica. */
  isFirst(name: string): Promise<boolean>;
}

/** Options of {@link createSeenProofs}. */
export interface SeenProofsOptions {
  readonly db: Queryable;
  readonly coordination: Pick<Coordination, "marks">;
  /** A monotonic clock in milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

/** Each new row removes up to four that are too old, so that the table stays small without a loop. */
async function insertProof(db: Queryable, hash: Uint8Array): Promise<boolean> {
  const insertedCount = await execute(
    db,
    sql`WITH old AS (
          SELECT hash FROM seen_proof WHERE expires_at < now() ORDER BY expires_at LIMIT 4 FOR UPDATE SKIP LOCKED
        ), swept AS (DELETE FROM seen_proof USING old WHERE seen_proof.hash = old.hash)
        INSERT INTO seen_proof (hash, expires_at)
        VALUES (${hash}, now() + make_interval(secs => ${PROOF_LIFE_MS / 1_000}))
        ON CONFLICT (hash) DO NOTHING RETURNING hash`,
  );
  return insertedCount === 1;
}
