import type { Database, Queryable } from "../store/database.ts";
import { LOCK_KEYS } from "../store/lock-keys.ts";
import { type AuditEntry, chainHash, leafHash } from "./audit-entry.ts";
import { type AuditSeal, SEAL_MAX_COUNT, type SealContent, sealHash } from "./audit-seal.ts";
import { merkleRoot } from "./merkle-tree.ts";
import type { SealKey } from "./seal-key.ts";
import { GENESIS_HASH } from "./sha256.ts";

export interface SealEventsDeps {
  readonly database: Pick<Database, "query" | "transaction">;
  /** Undefined: seals are not signed. */
  readonly key: SealKey | undefined;
}

type Event = Omit<AuditEntry, "sequence">;
interface Head extends Pick<AuditSeal, "number" | "lastSequence" | "chainHash" | "sealHash"> {}

const BEFORE_THE_FIRST: Head = {
  number: 0n,
  lastSequence: 0n,
  chainHash: GENESIS_HASH,
  sealHash: GENESIS_HASH,
};

/**
 * Seals the committed events that no seal covers yet, at most 4096 of them, the oldest id first, and returns how many;
 * 0 also while another process seals. All of it is one transaction: a seal is there with its leaves or not at all.
 *
 * The order is the order of commits as far as anyone can tell it. An event is taken up once its transaction has
 * committed, so one that commits later than a pass stands behind everything that the pass has sealed. And where one
 * transaction had committed before another wrote its event, its event has the smaller id.
 */
export async function sealEvents({ database, key }: SealEventsDeps): Promise<number> {
  // Most passes find nothing, and need no lock to see that.
  if ((await database.query("SELECT FROM audit_unsealed LIMIT 1")).length === 0) return 0;
  return database.transaction(async (db) => {
    if (!(await lockSealer(db))) return 0;
    const head = await readHead(db);
    const events = await db.query<Event>(UNSEALED, [SEAL_MAX_COUNT]);
    if (events.length === 0) return 0;
    const { leaves, chain } = hashEvents(events, head);
    const [time] = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now");
    if (time === undefined) throw new Error("the database told no time");
    await writeLeaves(db, { events, head, leaves, chain });
    await writeSeal(
      db,
      {
        number: head.number + 1n,
        firstSequence: head.lastSequence + 1n,
        lastSequence: head.lastSequence + BigInt(events.length),
        createdAt: time.now,
        merkleRoot: merkleRoot(leaves),
        chainHash: chain.at(-1) ?? head.chainHash,
        previousSealHash: head.sealHash,
      },
      key,
    );
    return events.length;
  });
}

const UNSEALED = `
SELECT e.id AS "auditEventId", e.created_at AS "createdAt", e.actor, e.action, e.subject, e.project_id AS "projectId",
       e.request_id AS "requestId", e.address
FROM audit_unsealed u CROSS JOIN LATERAL (SELECT * FROM audit_event WHERE id = u.audit_event_id LIMIT 1) e
ORDER BY u.audit_event_id LIMIT $1`;

async function lockSealer(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ locked: boolean }>("SELECT pg_try_advisory_xact_lock($1) AS locked", [
    LOCK_KEYS.auditSealer,
  ]);
  return row?.locked === true;
}

async function readHead(db: Queryable): Promise<Head> {
  const [head] = await db.query<Head>(
    `SELECT number, last_sequence AS "lastSequence", chain_hash AS "chainHash", seal_hash AS "sealHash"
     FROM audit_seal ORDER BY number DESC LIMIT 1`,
    [],
  );
  return head ?? BEFORE_THE_FIRST;
}

function hashEvents(events: readonly Event[], head: Head): { leaves: Uint8Array[]; chain: Uint8Array[] } {
  const leaves: Uint8Array[] = [];
  const chain: Uint8Array[] = [];
  let last = head.chainHash;
  for (const [index, event] of events.entries()) {
    const leaf = leafHash({ sequence: head.lastSequence + BigInt(index + 1), ...event });
    last = chainHash(last, leaf);
    leaves.push(leaf);
    chain.push(last);
  }
  return { leaves, chain };
}

interface Leaves {
  readonly events: readonly Event[];
  readonly head: Head;
  readonly leaves: readonly Uint8Array[];
  readonly chain: readonly Uint8Array[];
}

async function writeLeaves(db: Queryable, { events, head, leaves, chain }: Leaves): Promise<void> {
  const ids = events.map(({ auditEventId }) => auditEventId);
  await db.query(
    `INSERT INTO audit_leaf (sequence, audit_event_id, leaf_hash, chain_hash)
     SELECT $1::bigint + place, id, leaf, chain
     FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) WITH ORDINALITY AS t (id, leaf, chain, place)`,
    [head.lastSequence, ids, leaves, chain],
  );
  await db.query("DELETE FROM audit_unsealed WHERE audit_event_id = ANY($1::bigint[])", [ids]);
}

async function writeSeal(db: Queryable, seal: SealContent, key: SealKey | undefined): Promise<void> {
  const hash = sealHash(seal);
  await db.query(
    `INSERT INTO audit_seal (number, first_sequence, last_sequence, created_at, merkle_root, chain_hash,
                             previous_seal_hash, seal_hash, public_key, signature)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      seal.number,
      seal.firstSequence,
      seal.lastSequence,
      seal.createdAt,
      seal.merkleRoot,
      seal.chainHash,
      seal.previousSealHash,
      hash,
      key?.publicKey ?? null,
      key?.signSeal(hash) ?? null,
    ],
  );
}
