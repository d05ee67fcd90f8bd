import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import sql, { type Sql } from "sql-template-tag";
import { type AuditEntry, chainHash, leafHash } from "../../protocol/seals/audit-entry.ts";
import {
  type AuditSeal,
  SEAL_MAX_COUNT,
  type SealContent,
  sealHash,
  signedBytes,
} from "../../protocol/seals/audit-seal.ts";
import { GENESIS_HASH, merkleRoot } from "../../protocol/seals/merkle-tree.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import {
  bigint,
  boolean,
  bytea,
  type Columns,
  nullable,
  number,
  text,
  time,
} from "../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../platform/store/database.ts";
import { LOCK_KEYS } from "../platform/store/migrate.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import type { Secret } from "../platform/telemetry/secret.ts";

/**
 * Seals at most 4096 committed events that no seal covers yet, in the order of their ids. Returns their number, and 0
 * while another process seals. It runs in one transaction: a seal exists with all its leaves or not at all.
 *
 * The order is the order of commits as far as it can be known. A pass takes an event only after its transaction has
 * committed, so an event that commits after a pass comes after all events that the pass sealed. If one transaction
 * committed before another one wrote its event, the first event has the smaller id.
 *
 * @param key undefined for unsigned seals
 */
export async function sealEvents(database: Database, key: SealKey | undefined): Promise<number> {
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
       e.request_id AS "requestId", e.address, e.ledger_entry_id AS "ledgerEntryId", e.amount_micro_usd AS "amountMicroUsd"
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
  ledgerEntryId: nullable(text),
  amountMicroUsd: nullable(bigint),
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

/** A leaf of version 1 hashes no ledger entry. */
const LEAF_VERSION = 2;

async function writeLeaves(db: Queryable, { events, head, leaves, chain }: Leaves): Promise<void> {
  const ids = events.map(({ auditEventId }) => auditEventId);
  await execute(
    db,
    sql`INSERT INTO audit_leaf (sequence, audit_event_id, leaf_hash, chain_hash, version)
        SELECT ${head.lastSequence}::bigint + place, id, leaf, chain, ${LEAF_VERSION}::smallint
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

/** Seals the events of the audit trail. Any number of replicas may run it; one at a time seals. */
export function createAuditSealer({
  database,
  key,
  clock,
  log,
  intervalMs,
}: AuditSealerDeps): BackgroundLoop {
  return createBackgroundLoop({
    name: "audit sealer",
    intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS,
    clock,
    log,
    // The next pass seals the events that arrive meanwhile: a busy trail gets one seal per interval, not per event.
    pass: async () => (await sealEvents(database, key)) >= SEAL_MAX_COUNT,
  });
}

export interface AuditSealerDeps {
  readonly database: Database;
  /** Undefined: seals are unsigned. */
  readonly key: SealKey | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** The maximum time that an event waits for its seal, apart from the sealing itself. Default 5 s. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 5_000;

/** Counts the committed events that no seal covers yet. Reads one row per event. */
export function countUnsealed({ prisma }: Database): Promise<number> {
  return prisma.auditUnsealed.count();
}

/**
 * Returns how long the oldest event has waited for its seal, in milliseconds; 0 if none waits. It grows while no
 * replica seals. Reads only the row with the smallest id, which is the oldest except among concurrent transactions.
 */
export async function readUnsealedAgeMs(db: Queryable): Promise<number> {
  const [row] = await readRows(
    db,
    sql`SELECT (extract(epoch FROM clock_timestamp() - e.created_at) * 1000)::float8 AS "ageMs"
     FROM audit_unsealed u JOIN audit_event e ON e.id = u.audit_event_id ORDER BY u.audit_event_id LIMIT 1`,
    { ageMs: number },
  );
  return Math.max(0, row?.ageMs ?? 0);
}

/** Returns the key of an Ed25519 secret of 64 hex digits. */
export function createSealKey(secretHex: Secret): SealKey {
  const secret = Buffer.from(secretHex.reveal(), "hex");
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_PREFIX, secret]),
    format: "der",
    type: "pkcs8",
  });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    publicKey: spki.subarray(PUBLIC_PREFIX.length),
    signSeal: (sealHash) => sign(null, signedBytes(sealHash), key),
  };
}

/** The key that seals are signed with. */
export interface SealKey {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Returns the signature, 64 bytes. */
  signSeal(sealHash: Uint8Array): Uint8Array;
}

/** The bytes before the 32 bytes of a key, in PKCS #8 and in SPKI (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** True if the signature over the seal's hash verifies under the public key of 32 bytes. */
export function verifySealSignature(
  publicKey: Uint8Array,
  sealHash: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(null, signedBytes(sealHash), importKey(publicKey), signature);
}

function importKey(publicKey: Uint8Array): KeyObject {
  const key = Buffer.concat([PUBLIC_PREFIX, publicKey]);
  return createPublicKey({ key, format: "der", type: "spki" });
}
