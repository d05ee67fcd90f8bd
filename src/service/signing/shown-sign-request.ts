import sql, { type Sql } from "sql-template-tag";
import { isConfined } from "../access/allowances/allowance.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { batchStatements } from "../platform/store/batch-statements.ts";
import {
  bigint,
  boolean,
  bytea,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../platform/store/database.ts";
import {
  LAST_UUID,
  type Page,
  type PageRequest,
  readPage,
  UUID_POSITION,
} from "../platform/store/read-page.ts";
import {
  activeHolders,
  isWithinUse,
  type Reaching,
  reachScope,
  whereWithinReach,
  withinReach,
} from "../users/reach.ts";

/** The parts of a sign request that the contract shows. */
export interface ShownSignRequest {
  readonly id: string;
  readonly status: SignStatus;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly message: Uint8Array;
  readonly priceMicroUsd: bigint;
  readonly txDigest: string | null;
  readonly signSessionId: string | null;
  readonly signature: Uint8Array | null;
  readonly failureReason: string | null;
  readonly failureMessage: string | null;
  readonly refunded: boolean;
  readonly expiresAt: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  /** The id of the presign's object. */
  readonly presignId: string;
  /** The user of the dWallet; null if it belongs to none. */
  readonly userReference: string | null;
  /** The users besides it who may sign with the dWallet. */
  readonly activeHolders: readonly string[];
  /** How long its half is held for a release; null for a request that is signed at once. */
  readonly holdSeconds: number | null;
  /** Null before the half is submitted. */
  readonly holdState: HoldState | null;
  readonly holdPriceMicroUsd: bigint;
  readonly holdExpiresAt: Date | null;
  readonly holdTxDigest: string | null;
}

/** The states of a hold. `sending` ends when the half's transaction is final, and `verifying` with the network's word. */
export const HOLD_STATES = ["sending", "verifying", "held", "released", "ended"] as const;

/** One of {@link HOLD_STATES}. */
export type HoldState = (typeof HOLD_STATES)[number];

/** When a sign request reached its stages; null before that. */
export interface StageTimes {
  /** When the half was accepted. */
  readonly submittedAt: Date | null;
  /** When the transaction was stored, to be sent. */
  readonly sentAt: Date | null;
  /** When the service learned that the transaction is final. */
  readonly landedAt: Date | null;
}

/** A sign request as the contract shows it to readers. */
export type StagedSignRequest = ShownSignRequest & StageTimes;

/** The states of a sign request; see `SignRequest.Status` in the contract for how they follow each other. */
export const SIGN_STATUSES = ["prepared", "queued", "submitted", "completed", "failed"] as const;

/** One of {@link SIGN_STATUSES}. */
export type SignStatus = (typeof SIGN_STATUSES)[number];

/** The revision of a row. No revision occurs twice, and each change of a row changes one of these two. */
export type SignRevision = Pick<ShownSignRequest, "status" | "updatedAt">;

/** The columns of a {@link ShownSignRequest} in the result of a statement. */
export const SHOWN_ROW: Columns<ShownSignRequest> = {
  id: text,
  status: oneOf(...SIGN_STATUSES),
  curve: number,
  signatureAlgorithm: number,
  hashScheme: number,
  message: bytea,
  priceMicroUsd: bigint,
  txDigest: nullable(text),
  signSessionId: nullable(text),
  signature: nullable(bytea),
  failureReason: nullable(text),
  failureMessage: nullable(text),
  refunded: boolean,
  expiresAt: time,
  createdAt: time,
  updatedAt: time,
  dwalletId: text,
  presignId: text,
  userReference: nullable(text),
  activeHolders: listOf(text),
  holdSeconds: nullable(number),
  holdState: nullable(oneOf(...HOLD_STATES)),
  holdPriceMicroUsd: bigint,
  holdExpiresAt: nullable(time),
  holdTxDigest: nullable(text),
};

/** The columns of a {@link StagedSignRequest} in the result of a statement. */
export const STAGED_ROW: Columns<StagedSignRequest> = {
  ...SHOWN_ROW,
  submittedAt: nullable(time),
  sentAt: nullable(time),
  landedAt: nullable(time),
};

/** The select list of a {@link ShownSignRequest} from {@link withDWallet}. */
export const SHOWN_COLUMNS = sql`r.id, r.status, r.curve, r.signature_algorithm AS "signatureAlgorithm",
       r.hash_scheme AS "hashScheme", r.message, r.price_micro_usd AS "priceMicroUsd", r.tx_digest AS "txDigest",
       r.sign_session_id AS "signSessionId", r.signature, r.failure_reason AS "failureReason",
       r.failure_message AS "failureMessage", r.refunded, r.expires_at AS "expiresAt", r.created_at AS "createdAt",
       r.updated_at AS "updatedAt", d.object_id AS "dwalletId", p.presign_id AS "presignId",
       d.user_reference AS "userReference", ${activeHolders(sql`d`)} AS "activeHolders",
       r.hold_seconds AS "holdSeconds", r.hold_state AS "holdState", r.hold_price_micro_usd AS "holdPriceMicroUsd",
       r.hold_expires_at AS "holdExpiresAt", r.hold_tx_digest AS "holdTxDigest"`;

/** Returns the sign requests `r` of a table or expression, with their dWallets `d` and their presigns `p`. */
export function withDWallet(requests: Sql): Sql {
  return sql`${requests} r JOIN dwallet d ON d.id = r.dwallet_id JOIN presign p ON p.id = r.presign_id`;
}

/** The select list of a {@link StagedSignRequest} from {@link withStages}. */
export const STAGED_COLUMNS = sql`${SHOWN_COLUMNS}, stage.submitted_at AS "submittedAt", stage.sent_at AS "sentAt",
       stage.landed_at AS "landedAt"`;

/**
 * Returns {@link withDWallet} with the stages of each request. The limit makes PostgreSQL look up the operation of each
 * request: otherwise it may read all operations.
 */
export function withStages(requests: Sql): Sql {
  return sql`${withDWallet(requests)} LEFT JOIN LATERAL (
    SELECT o.created_at AS submitted_at, t.created_at AS sent_at,
           CASE WHEN t.state = 'landed' THEN t.resolved_at END AS landed_at
    FROM chain_operation o LEFT JOIN chain_transaction t ON t.digest = o.tx_digest
    WHERE o.kind = CASE WHEN r.hold_state IS NULL THEN 'sign' ELSE 'partial_sign' END AND o.subject_id = r.id LIMIT 1
  ) stage ON true`;
}

const SHOWN_TABLES = withStages(sql`sign_request`);

/**
 * Reads a sign request for display. Undefined if the caller sees none with this id. Calls that arrive together share a
 * statement.
 */
export async function readShownSignRequest(
  db: Queryable,
  asked: { readonly id: string; readonly caller: Reaching },
): Promise<StagedSignRequest | undefined> {
  const row = await readShownTogether(db, asked);
  return row && isWithinUse(asked.caller, { ...row, objectId: row.dwalletId }) ? row : undefined;
}

type OwnedSignRequest = StagedSignRequest & { readonly projectId: string };

const readShownTogether = batchStatements<
  { readonly id: string; readonly caller: Reaching },
  OwnedSignRequest | undefined
>({
  subjectOf: ({ caller }) => caller.projectId,
  async run(db, asked) {
    const ids = asked.map(({ id }) => id);
    const rows = await readRows<OwnedSignRequest>(
      db,
      sql`SELECT ${STAGED_COLUMNS}, d.project_id AS "projectId" FROM ${SHOWN_TABLES} WHERE r.id = ANY(${ids}::uuid[])`,
      { ...STAGED_ROW, projectId: text },
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    // PostgreSQL returns ids in lower case, and a caller may write them otherwise.
    return ids.map((id) => byId.get(id.toLowerCase()));
  },
});

/** Reads a sign request of any project of the network, for an operator. Undefined if there is none. */
export async function readSignRequestOfNetwork(
  db: Queryable,
  network: string,
  id: string,
): Promise<OwnedSignRequest | undefined> {
  const [row] = await readRows<OwnedSignRequest>(
    db,
    sql`SELECT ${STAGED_COLUMNS}, d.project_id AS "projectId" FROM ${SHOWN_TABLES}
        WHERE r.id = ${id}::uuid AND r.network = ${network}`,
    { ...STAGED_ROW, projectId: text },
  );
  return row;
}

/** Reads a page of the sign requests that the caller sees, the newest first. Throws DWALLET_NOT_FOUND and VALIDATION. */
export async function listSigns(
  database: Database,
  caller: Reaching,
  { dwalletId, userReference, status, held = false, ...request }: ListSignsInput,
): Promise<Page<StagedSignRequest>> {
  const { projectId } = caller;
  const dwalletRow = dwalletId === undefined ? undefined : await findDWalletRow(database, caller, dwalletId);
  const ofUser = userReference === undefined ? sql`` : sql` AND d.user_reference = ${userReference}`;
  const isOfAll = userReference === undefined && !isConfined(caller.allowance);
  const ofDWallet = dwalletRow === undefined ? sql`` : sql` AND d.id = ${dwalletRow}::uuid`;
  const owners = sql`SELECT d.id FROM dwallet d WHERE ${withinReach(caller, sql`d`)}${ofUser}${ofDWallet}`;
  const owner: Owner = !isOfAll
    ? { from: sql`(${owners}) AS owned CROSS JOIN`, where: sql`s.dwallet_id = owned.id` }
    : dwalletRow === undefined
      ? { from: sql``, where: sql`s.project_id = ${projectId}::uuid` }
      : { from: sql``, where: sql`s.dwallet_id = ${dwalletRow}::uuid` };
  const wanted = status === undefined ? SIGN_STATUSES : [status];
  const statuses = held ? wanted.filter((name) => name === "queued") : wanted;
  return readPage(request, {
    scope: [
      ...["sign", reachScope(caller), dwalletId ?? "", status ?? ""],
      ...(userReference === undefined ? [] : [userReference]),
      ...(held ? ["held", "true"] : []),
    ],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST_UUID, count) =>
      readRows(database, requestsOf(owner, { statuses, held, after, count }), STAGED_ROW),
  });
}

/** A filter for sign requests, and a page of the result. */
interface ListSignsInput extends PageRequest {
  /** The id of the dWallet's object; undefined means all dWallets. */
  readonly dwalletId: string | undefined;
  /** Undefined means all users. */
  readonly userReference?: string | undefined;
  /** Undefined means all states. */
  readonly status: SignStatus | undefined;
  /** Whether only requests with a held half are listed. Default false. */
  readonly held?: boolean;
}

/** The owners of the listed requests: FROM items before the states, and the condition of a request `s`. */
interface Owner {
  readonly from: Sql;
  readonly where: Sql;
}

async function findDWalletRow({ prisma }: Database, caller: Reaching, objectId: string): Promise<string> {
  const where = { ...whereWithinReach(caller), objectId };
  const row = await prisma.dWallet.findFirst({ where, select: { id: true } });
  if (row !== null) return row.id;
  throw new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
    metadata: { dwalletId: objectId },
  });
}

/**
 * Reads each state from the end of one index, (owner, status, id). A page thus reads at most `count` rows of each
 * state, whatever the filter; of a user, that many of each of the user's dWallets. A second index for lists of all
 * states, or of users, would slow down every signature. A list of held halves reads the owner's queued requests, which are
 * few: the halves of a project are bounded.
 */
const requestsOf = ({ from, where }: Owner, { statuses, held, after, count }: WantedRequests) => sql`
SELECT ${STAGED_COLUMNS} FROM ${SHOWN_TABLES} WHERE r.id = ANY(ARRAY(
  SELECT one.id FROM ${from} unnest(${statuses}::text[]) AS wanted (status) CROSS JOIN LATERAL (
    SELECT s.id FROM sign_request s WHERE ${where} AND s.status = wanted.status AND s.id < ${after}::uuid${
      held ? sql` AND s.hold_state = 'held'` : sql``
    }
    ORDER BY s.id DESC LIMIT ${count}
  ) one ORDER BY one.id DESC LIMIT ${count}
)) ORDER BY r.id DESC`;

interface WantedRequests {
  readonly statuses: readonly SignStatus[];
  readonly held: boolean;
  readonly after: string;
  readonly count: number;
}
