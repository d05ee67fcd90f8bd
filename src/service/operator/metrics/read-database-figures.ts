import sql, { raw, type Sql } from "sql-template-tag";
import { OPERATION_NAMES, type OperationName } from "../../chain/operation.ts";
import { boolean, type Columns, nullable, number, oneOf, text } from "../../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../../platform/store/database.ts";

/** Counts open work on a network. Every statement reads only indexes of open rows. */
export function readDatabaseFigures(database: Database, network: string): Promise<DatabaseFigures> {
  return database.transaction(async (db) => {
    await execute(db, raw(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`));
    return {
      outbox: await readOutboxFigures(db, network),
      signs: await readRows(db, signs(network), SIGN_COLUMNS),
      presigns: [
        ...(await readRows(db, stock(network), PRESIGN_COLUMNS)),
        ...(await readRows(db, held(network), PRESIGN_COLUMNS)),
      ],
      lanes: await readLaneFigures(db, network),
    };
  });
}

/** The unfinished operations of one kind. */
export interface OutboxFigure {
  readonly kind: OperationName;
  readonly state: "queued" | "sent";
  readonly count: number;
  /** The age of the oldest one. */
  readonly oldestSeconds: number;
}

/** The sign requests in one open state. */
export interface SignFigure {
  readonly status: "prepared" | "submitted";
  readonly count: number;
  /** The time that the oldest one has been in this state. */
  readonly oldestSeconds: number;
}

/** The usable presigns of one bucket. */
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
  /** True if a replica holds it. */
  readonly isLeased: boolean;
  /** True if another sender has used it. */
  readonly isForeign: boolean;
  /** The age of its unresolved transaction; null without one. */
  readonly unresolvedSeconds: number | null;
}

/** Open work in the database at one moment. */
export interface DatabaseFigures {
  readonly outbox: readonly OutboxFigure[];
  readonly signs: readonly SignFigure[];
  readonly presigns: readonly PresignFigure[];
  readonly lanes: readonly LaneFigure[];
}

/** The time limit of a statement. */
const STATEMENT_TIMEOUT_MS = 5_000;

/** The unfinished operations of the network, by kind and state. */
export function readOutboxFigures(db: Queryable, network: string): Promise<OutboxFigure[]> {
  return readRows(db, outbox(network), OUTBOX_COLUMNS);
}

/** All lanes of the network, including former ones, by id. */
export function readLaneFigures(db: Queryable, network: string): Promise<LaneFigure[]> {
  return readRows(db, lanes(network), LANE_COLUMNS);
}

const ageOf = (moment: Sql): Sql => sql`greatest(extract(epoch FROM now() - ${moment}), 0)::float8`;

const OUTBOX_COLUMNS: Columns<OutboxFigure> = {
  kind: oneOf(...OPERATION_NAMES),
  state: oneOf("queued", "sent"),
  count: number,
  oldestSeconds: number,
};

const outbox = (network: string): Sql => sql`
SELECT kind, state, count(*)::int AS count, ${ageOf(sql`min(created_at)`)} AS "oldestSeconds"
FROM (
  SELECT kind, state, created_at FROM chain_operation WHERE network = ${network} AND state = 'queued'
  UNION ALL
  SELECT o.kind, o.state, o.created_at FROM chain_transaction t JOIN chain_operation o ON o.tx_digest = t.digest
  WHERE t.network = ${network} AND t.state = 'stored' AND o.state = 'sent'
) open GROUP BY kind, state`;

const SIGN_COLUMNS: Columns<SignFigure> = {
  status: oneOf("prepared", "submitted"),
  count: number,
  oldestSeconds: number,
};

const signs = (network: string): Sql => sql`
SELECT status, count(*)::int AS count, ${ageOf(sql`min(since)`)} AS "oldestSeconds"
FROM (
  SELECT status, created_at AS since FROM sign_request WHERE network = ${network} AND status = 'prepared'
  UNION ALL
  SELECT status, updated_at FROM sign_request WHERE network = ${network} AND status = 'submitted'
) open GROUP BY status`;

const PRESIGN_COLUMNS: Columns<PresignFigure> = {
  curve: number,
  signatureAlgorithm: number,
  networkEncryptionKeyId: text,
  state: oneOf("ready", "pending", "held"),
  count: number,
};

const BUCKET = sql`p.curve, p.signature_algorithm AS "signatureAlgorithm",
  p.network_encryption_key_id AS "networkEncryptionKeyId"`;

const stock = (network: string): Sql => sql`
SELECT ${BUCKET}, CASE p.state WHEN 'ready' THEN 'ready' ELSE 'pending' END AS state, count(*)::int AS count
FROM presign p WHERE network = ${network} AND state IN ('requested', 'pending', 'ready') AND NOT of_dwallet
GROUP BY 1, 2, 3, 4`;

const held = (network: string): Sql => sql`
SELECT ${BUCKET}, 'held' AS state, count(*)::int AS count
FROM sign_request r JOIN presign p ON p.id = r.presign_id
WHERE r.network = ${network} AND r.status = 'prepared' AND NOT p.of_dwallet GROUP BY 1, 2, 3`;

const LANE_COLUMNS: Columns<LaneFigure> = {
  id: text,
  isLeased: boolean,
  isForeign: boolean,
  unresolvedSeconds: nullable(number),
};

const lanes = (network: string): Sql => sql`
SELECT l.id, l.leased_until > now() AS "isLeased", l.foreign_digest IS NOT NULL AS "isForeign",
       CASE WHEN t.digest IS NOT NULL THEN ${ageOf(sql`t.created_at`)} END AS "unresolvedSeconds"
FROM lane l LEFT JOIN chain_transaction t ON t.network = l.network AND t.lane = l.id AND t.state = 'stored'
WHERE l.network = ${network} ORDER BY l.id`;
