import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import sql from "sql-template-tag";
import { bytea } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";

/**
 * Opens the nonces of proofs, which all replicas on a database share. The first replica makes the secret. Whoever reads
 * the database can compute nonces, which is of use only together with a device's key.
 */
export async function openProofNonces(db: Queryable): Promise<ProofNonces> {
  await execute(
    db,
    sql`INSERT INTO proof_secret (id, secret) VALUES (1, ${randomBytes(SECRET_BYTES)}) ON CONFLICT (id) DO NOTHING`,
  );
  const [row] = await readRows(db, sql`SELECT secret FROM proof_secret WHERE id = 1`, { secret: bytea });
  if (row === undefined) throw new Error("the secret of the nonces was deleted while this process started");
  return createProofNonces(row.secret);
}

/**
 * Creates nonces that follow from the time and a secret, so that nobody stores them. A nonce is for two minutes of the
 * service's clock, and accepted in the two minutes before and after as well.
 */
export function createProofNonces(secret: Uint8Array): ProofNonces {
  const nonceOf = (slot: number) =>
    createHmac("sha256", secret).update(`dpop-nonce ${slot}`).digest("base64url").slice(0, NONCE_LENGTH);
  const slots = new Map<number, string>();
  const known = (slot: number): string => {
    const nonce = slots.get(slot) ?? nonceOf(slot);
    if (slots.size > SLOTS_MAX_COUNT) slots.clear();
    slots.set(slot, nonce);
    return nonce;
  };
  return {
    current: (nowMs) => known(slotOf(nowMs)),
    accepts: (nonce, nowMs) => [0, -1, 1].some((offset) => isSame(nonce, known(slotOf(nowMs) + offset))),
  };
}

/** The service's nonces. */
export interface ProofNonces {
  /** Returns the nonce for new proofs. */
  current(nowMs: number): string;
  /** True for a nonce of now or of the two minutes before and after. */
  accepts(nonce: string, nowMs: number): boolean;
}

/** How long after its use a proof can be accepted at most: as long as its nonce. */
export const PROOF_LIFE_MS = 3 * 120_000;

const SECRET_BYTES = 32;
const SLOT_MS = 120_000;
const SLOTS_MAX_COUNT = 8;
const NONCE_LENGTH = 22;

function slotOf(nowMs: number): number {
  return Math.floor(nowMs / SLOT_MS);
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
