import sql, { type Sql } from "sql-template-tag";
import { type AuditEntry, chainHash, leafHash } from "../seals/audit-entry.ts";
import { type AuditSeal, SEAL_MAX_COUNT, type SealContent, sealHash } from "../seals/audit-seal.ts";
import { merkleRoot } from "../seals/merkle-tree.ts";
import { GENESIS_HASH } from "../seals/sha256.ts";
import { bigint, boolean, bytea, type Columns, nullable, text, time } from "../store/columns.ts";
import type { Database, Queryable } from "../store/database.ts";
import { LOCK_KEYS } from "../store/lock-keys.ts";
import { execute, readRows } from "../store/statements.ts";
import type { SealKey } from "./seal-key.ts";

/**
 * Seals at most 4096 committed events that no seal covers yet, in the order of their ids. Returns their number, and 0
 * while another process seals. It runs in one transaction: a seal exists with all its leaves or not at all.
 *
 * The order is the order of commits as far as it can be known. A pass takes an event only after its transaction has
 * committed, so an event that commits after a pass comes after all events that the pass sealed. If one transaction
 * committed before another one wrote its event, the first event has the smaller id.
 */
export async function sealEvents({ database, key }: SealEventsDeps): Promise<number> {
  // Most passes find nothing and need no lock.
  if ((await execute(database, sql`SELECT FROM audit_unsealed LIMIT 1`)) === 0) return 0;
  return database.transaction(async (db) => {
    if (!(await lockSealer(db))) return 0;
    const head = await readHead(db);
    const events = await readRows(db, oldestUnsealed(), EVENT_COLUMNS);
    if (events.length === 0) return 0;
    const { leaves, chain } = hashEvents(events, head);
    const [clock] = await readRows(db, sql`SELECT clock_timestamp() AS now`, { now: time });
    if (clock === undefined) throw new Error("the database returned no time");
    await writeLeaves(db, { events, head, leaves, chain });
    await writeSeal(
      db,
      {
        number: head.number + 1n,
        firstSequence: head.lastSequence + 1n,
        lastSequence: head.lastSequence + BigInt(events.length),
        createdAt: clock.now,
        merkleRoot: merkleRoot(leaves),
        chainHash: chain.at(-1) ?? head.chainHash,
        previousSealHash: head.sealHash,
      },
      key,
    );
    return events.length;
  });
}

export interface SealEventsDeps {
  readonly database: Pick<Database, "query" | "transaction">;
  /** Undefined: seals are unsigned. */
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

const oldestUnsealed = (): Sql => sql`
SELECT e.id AS "auditEventId", e.created_at AS "createdAt", e.actor, e.action, e.subject, e.project_id AS "projectId",
       e.request_id AS "requestId", e.address
FROM audit_unsealed u CROSS JOIN LATERAL (SELECT * FROM audit_event WHERE id = u.audit_event_id LIMIT 1) e
ORDER BY u.audit_event_id LIMIT ${SEAL_MAX_COUNT}`;

const EVENT_COLUMNS: Columns<Event> = {
  auditEventId: bigint,
  createdAt: time,
  actor: text,
  action: text,
  subject: text,
  projectId: nullable(text),
  requestId: nullable(text),
  address: nullable(text),
};

async function lockSealer(db: Queryable): Promise<boolean> {
  const [row] = await readRows(
    db,
    sql`SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.auditSealer}) AS locked`,
    { locked: boolean },
  );
  return row?.locked === true;
}

async function readHead(db: Queryable): Promise<Head> {
  const [head] = await readRows(
    db,
    sql`SELECT number, last_sequence AS "lastSequence", chain_hash AS "chainHash", seal_hash AS "sealHash"
     FROM audit_seal ORDER BY number DESC LIMIT 1`,
    { number: bigint, lastSequence: bigint, chainHash: bytea, sealHash: bytea },
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
  await execute(
    db,
    sql`INSERT INTO audit_leaf (sequence, audit_event_id, leaf_hash, chain_hash)
        SELECT ${head.lastSequence}::bigint + place, id, leaf, chain
        FROM unnest(${ids}::bigint[], ${leaves}::bytea[], ${chain}::bytea[])
          WITH ORDINALITY AS t (id, leaf, chain, place)`,
  );
  await execute(db, sql`DELETE FROM audit_unsealed WHERE audit_event_id = ANY(${ids}::bigint[])`);
}

async function writeSeal(db: Queryable, seal: SealContent, key: SealKey | undefined): Promise<void> {
  const { number, firstSequence, lastSequence, createdAt, merkleRoot, previousSealHash } = seal;
  const hash = sealHash(seal);
  await execute(
    db,
    sql`INSERT INTO audit_seal (number, first_sequence, last_sequence, created_at, merkle_root, chain_hash,
                                previous_seal_hash, seal_hash, public_key, signature)
        VALUES (${number}, ${firstSequence}, ${lastSequence}, ${createdAt}, ${merkleRoot}, ${seal.chainHash},
                ${previousSealHash}, ${hash}, ${key?.publicKey ?? null}, ${key?.signSeal(hash) ?? null})`,
  );
}
