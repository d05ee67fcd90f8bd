import type { Database, Queryable } from "../store/database.ts";

/** Operations of one kind that have not reached their end. */
export interface OutboxFigure {
  readonly kind: string;
  readonly state: "queued" | "sent";
  readonly count: number;
  /** Of the oldest one. */
  readonly oldestSeconds: number;
}

/** Sign requests in one state that they do not end in. */
export interface SignFigure {
  readonly status: "prepared" | "submitted";
  readonly count: number;
  /** How long the oldest one has been in this state. */
  readonly oldestSeconds: number;
}

/** Living presigns of one bucket. */
export interface PresignFigure {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly networkEncryptionKeyId: string;
  readonly state: "ready" | "pending" | "held";
  readonly count: number;
}

/** One lane. */
export interface LaneFigure {
  readonly id: string;
  /** Some replica has it. */
  readonly isLeased: boolean;
  /** Something else has used it. */
  readonly isForeign: boolean;
  /** Age of its transaction whose outcome is not known; null without one. */
  readonly unresolvedSeconds: number | null;
}

/** What the database says about work under way, at one moment. */
export interface DatabaseFigures {
  readonly outbox: readonly OutboxFigure[];
  readonly signs: readonly SignFigure[];
  readonly presigns: readonly PresignFigure[];
  readonly lanes: readonly LaneFigure[];
}

/** A statement that takes longer is given up. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** Counts what is open on a network. Every statement reads indexes of open rows only, never what has ended. */
export function readDatabaseFigures(
  database: Pick<Database, "transaction">,
  network: string,
): Promise<DatabaseFigures> {
  return database.transaction(async (db) => {
    await db.query(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    const read = <Row>(statement: string) => db.query<Row>(statement, [network]);
    return {
      outbox: await read<OutboxFigure>(OUTBOX),
      signs: await read<SignFigure>(SIGNS),
      presigns: [...(await read<PresignFigure>(STOCK)), ...(await read<PresignFigure>(HELD))],
      lanes: await readLaneFigures(db, network),
    };
  });
}

/** Every lane of the network that ever was, by id. */
export function readLaneFigures(db: Queryable, network: string): Promise<LaneFigure[]> {
  return db.query<LaneFigure>(LANES, [network]);
}

const ageOf = (moment: string): string => `greatest(extract(epoch FROM now() - ${moment}), 0)::float8`;

const OUTBOX = `
SELECT kind, state, count(*)::int AS count, ${ageOf("min(created_at)")} AS "oldestSeconds"
FROM (
  SELECT kind, state, created_at FROM chain_operation WHERE network = $1 AND state = 'queued'
  UNION ALL
  SELECT o.kind, o.state, o.created_at FROM chain_transaction t JOIN chain_operation o ON o.tx_digest = t.digest
  WHERE t.network = $1 AND t.state = 'stored' AND o.state = 'sent'
) open GROUP BY kind, state`;

const SIGNS = `
SELECT status, count(*)::int AS count, ${ageOf("min(since)")} AS "oldestSeconds"
FROM (
  SELECT status, created_at AS since FROM sign_request WHERE network = $1 AND status = 'prepared'
  UNION ALL
  SELECT status, updated_at FROM sign_request WHERE network = $1 AND status = 'submitted'
) open GROUP BY status`;

const BUCKET = `p.curve, p.signature_algorithm AS "signatureAlgorithm",
  p.network_encryption_key_id AS "networkEncryptionKeyId"`;

const STOCK = `
SELECT ${BUCKET}, CASE p.state WHEN 'ready' THEN 'ready' ELSE 'pending' END AS state, count(*)::int AS count
FROM presign p WHERE network = $1 AND state IN ('requested', 'pending', 'ready') GROUP BY 1, 2, 3, 4`;

const HELD = `
SELECT ${BUCKET}, 'held' AS state, count(*)::int AS count
FROM sign_request r JOIN presign p ON p.id = r.presign_id
WHERE r.network = $1 AND r.status = 'prepared' GROUP BY 1, 2, 3`;

const LANES = `
SELECT l.id, l.leased_until > now() AS "isLeased", l.foreign_digest IS NOT NULL AS "isForeign",
       CASE WHEN t.digest IS NOT NULL THEN ${ageOf("t.created_at")} END AS "unresolvedSeconds"
FROM lane l LEFT JOIN chain_transaction t ON t.network = l.network AND t.lane = l.id AND t.state = 'stored'
WHERE l.network = $1 ORDER BY l.id`;
