import type pg from "pg";
import { SEAL_MAX_COUNT } from "../../src/protocol/seals/audit-seal.ts";

/**
 * Adds leaves and seals with made-up hashes to the audit events that have none. It continues from the newest seal, and
 * a sealer can continue from there. Triggers must be off.
 */
export async function sealOldEvents(client: pg.Client): Promise<void> {
  await client.query(LEAVES);
  await client.query(SEALS, [SEAL_MAX_COUNT]);
}

const LEAVES = `
INSERT INTO audit_leaf (sequence, audit_event_id, leaf_hash, chain_hash)
SELECT (SELECT coalesce(max(last_sequence), 0) FROM audit_seal) + row_number() OVER (ORDER BY e.id), e.id,
  sha256(e.subject::bytea), sha256(e.id::text::bytea)
FROM audit_event e WHERE NOT EXISTS (SELECT FROM audit_leaf l WHERE l.audit_event_id = e.id)`;

const SEALS = `
INSERT INTO audit_seal (number, first_sequence, last_sequence, created_at, merkle_root, chain_hash, previous_seal_hash,
                        seal_hash)
SELECT head.number + row_number() OVER (ORDER BY min(sequence)), min(sequence), max(sequence), now(),
  sha256(min(sequence)::text::bytea), (array_agg(l.chain_hash ORDER BY sequence DESC))[1],
  sha256((min(sequence) - 1)::text::bytea), sha256(max(sequence)::text::bytea)
FROM audit_leaf l,
  (SELECT coalesce(max(number), 0) AS number, coalesce(max(last_sequence), 0) AS last FROM audit_seal) head
WHERE sequence > head.last GROUP BY head.number, (sequence - head.last - 1) / $1`;
