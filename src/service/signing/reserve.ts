import sql, { type Sql } from "sql-template-tag";
import type { AlgorithmTriple, SignatureAlgorithmName } from "../../protocol/algorithms.ts";
import { messageSignPrice, type PriceTable } from "../../protocol/price-table.ts";
import type { Allowance } from "../access/allowance.ts";
import {
  BUDGET_OUTCOME_COLUMNS,
  type BudgetOutcome,
  budgetExceeded,
  budgetParts,
} from "../access/budgets.ts";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { networkDraining } from "../chain/network-drain.ts";
import { postings } from "../ledger/postings.ts";
import { hasLeft, isLeft } from "../onboarding/custody/custody-state.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { findRemembered, type KeyScope, keyInsert } from "../platform/idempotency/key-table.ts";
import { boolean, nullable, number, text } from "../platform/store/columns.ts";
import { type Database, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { inTurn, presignMoves } from "../presigns/presign-moves.ts";
import { activeUserOf, hasFrozenUser, userFrozen } from "../users/ensure-user.ts";
import { type Reaching, reachScope, withinReach } from "../users/reach.ts";
import { readSignRequest, type SignRequestRow } from "./sign-request.ts";

/**
 * Reserves a presign and holds the price, which depends on the algorithm and the length of the message. While the pool
 * is empty, waits for a presign for up to 20 s or until the deadline. With an idempotency key that was used before,
 * returns the earlier request in its current state; callers with another reach have their own keys. Throws
 * MESSAGE_TOO_LARGE, IDEMPOTENCY_KEY_REUSED, ALGORITHM_NOT_ALLOWED, INSUFFICIENT_CREDIT, BUDGET_EXCEEDED,
 * TOO_MANY_RESERVATIONS, PRESIGN_POOL_EMPTY and the errors of {@link findSignableDWallet}.
 */
export async function reserve(
  deps: ReserveDeps,
  caller: SigningCaller,
  input: ReserveInput,
  time: CallTime,
): Promise<SignRequestRow> {
  const { database, signals, presigns } = deps;
  if (input.message.length > MESSAGE_MAX_BYTES) {
    throw new ServiceError("MESSAGE_TOO_LARGE", `the message is longer than ${MESSAGE_MAX_BYTES} bytes`, {
      metadata: { maxBytes: String(MESSAGE_MAX_BYTES) },
    });
  }
  requireAlgorithm(caller.allowance, input.triple.signatureAlgorithm);
  const earlier = await findRepeated(deps, caller, input);
  if (earlier !== undefined) return earlier;

  const { projectId, network } = caller;
  const dwallet = await findSignableDWallet(
    database,
    { ...caller, dwalletId: input.dwalletId },
    input.triple,
  );
  const id = newId();
  const { length } = input.message;
  const priceMicroUsd = messageSignPrice(deps.prices, input.triple.signatureAlgorithm, length);
  const bucket = {
    network,
    curve: input.triple.curveNumber,
    signatureAlgorithm: input.triple.signatureAlgorithmNumber,
    networkEncryptionKeyId: dwallet.networkEncryptionKeyId,
  };
  const reservation = {
    ...bucket,
    id,
    projectId,
    dwalletId: dwallet.id,
    hashScheme: input.triple.hashNumber,
    message: input.message,
    priceMicroUsd,
    ttlMs: deps.reservationTtlMs,
    openMaxCount: deps.openMaxCount,
    allowance: caller.allowance,
    idempotency: input.idempotency,
  };
  const wait = {
    projectId,
    timeoutMs: Math.min(WAIT_MAX_MS, (time.timeoutMs ?? Number.POSITIVE_INFINITY) - REPLY_MARGIN_MS),
    signal: time.signal,
  };
  const row = await presigns.take(bucket, wait, async () => {
    const outcome = await takeReservation(database, caller.origin, reservation);
    if (outcome === "reserved") return readSignRequest(database, { id });
    // Another call with the same key came first. Its row also answers this one.
    const first = await findRepeated(deps, caller, input);
    if (first !== undefined) return first;
    // The dWallet was Active when this call began, so it is leaving now.
    if (outcome === "frozen") throw userFrozen(dwallet.userReference ?? "");
    if (outcome === "not-active") throw hasLeft(input.dwalletId, "Leaving");
    if (outcome === "no-credit") throw insufficientCredit(priceMicroUsd);
    if (outcome === "no-presign") return undefined;
    if ("growsAt" in outcome) throw budgetExceeded(outcome);
    throw tooManyReservations(outcome.openMaxCount);
  });
  if (row === undefined) {
    throw new ServiceError("PRESIGN_POOL_EMPTY", "no presign is ready; the pool is being refilled");
  }
  signals.notify(topics.presignWanted(network));
  return row;
}

/** The queue of reservations that wait for a presign. */
export interface PresignTurns {
  take<T>(
    bucket: { network: string; curve: number; signatureAlgorithm: number; networkEncryptionKeyId: string },
    wait: { projectId: string; timeoutMs: number; signal: AbortSignal },
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined>;
}

export interface ReserveDeps {
  readonly database: Database;
  readonly presigns: PresignTurns;
  readonly signals: Pick<Signals, "notify">;
  readonly prices: PriceTable;
  readonly reservationTtlMs: number;
  /** The maximum number of open reservations of a project. */
  readonly openMaxCount: number;
}

export interface SigningCaller extends Reaching {
  readonly network: string;
  /** The limits of a narrow key or a session. */
  readonly allowance?: Allowance | undefined;
  readonly origin: AuditOrigin;
}

/** The message to sign, the dWallet and the algorithm. */
export interface ReserveInput {
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
  /** Undefined for a call without a key, which always makes a new reservation. */
  readonly idempotency: Idempotency | undefined;
}

/** The time limit of a call. */
interface CallTime {
  /** The time until the deadline; undefined without one. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

/** A pure argument of a Move call is shorter than 16,384 bytes, with its length prefix. */
const MESSAGE_MAX_BYTES = 16_381;
const WAIT_MAX_MS = 20_000;
/** The time to send the reply before the caller's deadline. */
const REPLY_MARGIN_MS = 500;

async function findRepeated(
  { database }: ReserveDeps,
  caller: SigningCaller,
  { idempotency }: ReserveInput,
): Promise<SignRequestRow | undefined> {
  if (idempotency === undefined) return undefined;
  const remembered = await findRemembered(database, keyScopeOf(caller), idempotency);
  return remembered?.subjectId ? readSignRequest(database, { id: remembered.subjectId }) : undefined;
}

/** Throws ALGORITHM_NOT_ALLOWED for an algorithm that a narrow caller's limits do not name. */
export function requireAlgorithm(
  allowance: Allowance | undefined,
  signatureAlgorithm: SignatureAlgorithmName,
): void {
  if (allowance?.algorithms?.includes(signatureAlgorithm) ?? true) return;
  throw new ServiceError("ALGORITHM_NOT_ALLOWED", `the key may not sign with ${signatureAlgorithm}`, {
    metadata: { signatureAlgorithm },
  });
}

/** Returns the owner of a caller's idempotency keys. */
function keyScopeOf(caller: Reaching & Pick<SigningCaller, "network">): KeyScope {
  return { scope: reachScope(caller), network: caller.network };
}

function insufficientCredit(priceMicroUsd: bigint): ServiceError {
  return new ServiceError("INSUFFICIENT_CREDIT", "the project's available credit is below the price", {
    metadata: { priceMicroUsd: String(priceMicroUsd) },
  });
}

function tooManyReservations(maxCount: number): ServiceError {
  return new ServiceError(
    "TOO_MANY_RESERVATIONS",
    `the project has ${maxCount} open reservations, which is its limit now; submit some of them`,
    { metadata: { maxCount: String(maxCount) } },
  );
}

/**
 * Finds the dWallet within the caller's reach by its object id. Throws DWALLET_NOT_FOUND, UNSUPPORTED_ALGORITHM if the
 * algorithm does not fit the curve, DWALLET_LEFT if the dWallet has left or is leaving, DWALLET_NOT_ACTIVE with the
 * state, USER_FROZEN, and NETWORK_DRAINING if the network takes no new work, and DATABASE_BEHIND_CHAIN if the chain knows a transaction of a
 * lane that the database does not: a presign that the database holds as ready may then be used already.
 */
async function findSignableDWallet(
  db: Queryable,
  caller: SigningCaller & { readonly dwalletId: string },
  triple: AlgorithmTriple,
): Promise<SignableDWallet> {
  const { network, dwalletId } = caller;
  const [dwallet] = await readRows(
    db,
    sql`SELECT d.id, d.network_encryption_key_id AS "networkEncryptionKeyId", d.curve, d.state,
            d.public_output IS NOT NULL AS "hasOutput", d.user_reference AS "userReference",
            ${hasFrozenUser(sql`d`)} AS "isFrozen",
            EXISTS (SELECT FROM known_network k WHERE k.name = ${network} AND k.draining_since IS NOT NULL)
              AS "isDraining",
            EXISTS (SELECT FROM lane l WHERE l.network = ${network} AND l.foreign_digest IS NOT NULL) AS "isBehind"
     FROM dwallet d WHERE ${withinReach(caller, sql`d`)} AND d.network = ${network} AND d.object_id = ${dwalletId}`,
    {
      id: text,
      networkEncryptionKeyId: text,
      curve: number,
      state: text,
      hasOutput: boolean,
      userReference: nullable(text),
      isFrozen: boolean,
      isDraining: boolean,
      isBehind: boolean,
    },
  );
  if (dwallet === undefined) {
    throw new ServiceError("DWALLET_NOT_FOUND", "the project has no dWallet with this id", {
      metadata: { dwalletId },
    });
  }
  if (dwallet.isDraining) throw networkDraining(network);
  if (dwallet.isBehind) {
    throw new ServiceError(
      "DATABASE_BEHIND_CHAIN",
      `the chain knows transactions on ${network} that this service does not`,
      { metadata: { network } },
    );
  }
  if (dwallet.curve !== triple.curveNumber) {
    throw new ServiceError(
      "UNSUPPORTED_ALGORITHM",
      `${triple.signatureAlgorithm} does not fit the dWallet's curve`,
      { metadata: { dwalletId } },
    );
  }
  if (isLeft(dwallet.state)) throw hasLeft(dwalletId, dwallet.state);
  if (dwallet.state !== "Active" || !dwallet.hasOutput) {
    throw new ServiceError("DWALLET_NOT_ACTIVE", `the dWallet is ${dwallet.state}`, {
      metadata: { dwalletId, state: dwallet.state },
    });
  }
  if (dwallet.isFrozen) throw userFrozen(dwallet.userReference ?? "");
  return dwallet;
}

interface SignableDWallet {
  /** The id of the row. */
  readonly id: string;
  readonly userReference: string | null;
  readonly networkEncryptionKeyId: string;
}

/**
 * Takes the next ready presign of the bucket, holds the price and inserts the request, all or nothing, in one
 * statement. It locks the project's row first, so a project's calls are decided one after the other, and only a project
 * that can pay takes a presign. Each recently expired reservation lowers the maximum of open ones by one, down to a
 * tenth. A project that lets presigns expire thus holds few of them, and unspent credit does not keep presigns from
 * others. Reserves nothing if another request has the idempotency key. The price of a caller with a budget must fit it,
 * and is taken from it.
 *
 * The dWallet must be Active and within the caller's reach. Its row is locked FOR SHARE until the reservation is
 * committed, so a later exit sees the reservation, and a later reservation sees the exit. The row of its user, who must
 * not be frozen, is locked in the same way.
 */
export async function takeReservation(
  db: Queryable,
  origin: AuditOrigin,
  reservation: NewReservation,
): Promise<ReservationOutcome> {
  const [outcome] = await readRows(db, reservationStatement(origin, reservation), OUTCOME);
  if (outcome?.reserved) return "reserved";
  if (outcome?.signable === false) return "not-active";
  if (outcome?.thawed === false) return "frozen";
  if (outcome?.funded && !outcome.fitsBudget) return outcome;
  if (outcome?.funded && !outcome.allowed) return { openMaxCount: outcome.openMaxCount };
  return outcome?.funded ? "no-presign" : "no-credit";
}

interface NewReservation extends Reaching {
  readonly id: string;
  /** The id of the dWallet's row. */
  readonly dwalletId: string;
  readonly network: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly networkEncryptionKeyId: string;
  readonly message: Uint8Array;
  readonly priceMicroUsd: bigint;
  readonly ttlMs: number;
  /** The maximum number of the project's open reservations, including this one, while none of them expires. */
  readonly openMaxCount: number;
  /** The limits of the caller. Default: none. */
  readonly allowance?: Allowance | undefined;
  readonly idempotency: Idempotency | undefined;
}

/** The outcome of an attempt. If nothing was reserved, an earlier call may own the idempotency key. */
type ReservationOutcome =
  | "reserved"
  | "no-presign"
  | "no-credit"
  | "not-active"
  | "frozen"
  | BudgetOutcome
  | TooManyOpen;

/** The project has the maximum number of open reservations. */
interface TooManyOpen {
  readonly openMaxCount: number;
}

const OUTCOME = {
  funded: boolean,
  allowed: boolean,
  openMaxCount: number,
  signable: boolean,
  thawed: boolean,
  reserved: boolean,
  ...BUDGET_OUTCOME_COLUMNS,
};

/** The share of the maximum that a project keeps however many of its reservations have expired: one tenth. */
const LEAST_SHARE = 10;

function reservationStatement(origin: AuditOrigin, reservation: NewReservation): Sql {
  const { id, projectId, dwalletId, network, curve, signatureAlgorithm, hashScheme } = reservation;
  const { networkEncryptionKeyId, message, priceMicroUsd, ttlMs, openMaxCount, idempotency } = reservation;
  const budget = budgetParts(reservation.allowance, priceMicroUsd, { locked: sql`account` });
  const claimed = sql`(SELECT id AS subject_id FROM claim) AS made`;
  return sql`
WITH account AS (
  SELECT balance_micro_usd - held_micro_usd >= ${priceMicroUsd}::bigint AS funded, open_reservations,
    greatest(${openMaxCount}::integer - (${postings.countedLapses(sql`project`)}),
             ${openMaxCount}::integer / ${LEAST_SHARE}::integer, 1) AS open_max
  FROM project WHERE id = ${projectId}::uuid FOR UPDATE
), dwallet_now AS (
  SELECT d.project_id, d.user_reference FROM dwallet d
  WHERE d.id = ${dwalletId}::uuid AND d.state = 'Active' AND ${withinReach(reservation, sql`d`)} FOR SHARE
), user_now AS (${activeUserOf(sql`dwallet_now`)}), usable AS (
  SELECT 1 FROM dwallet_now WHERE user_reference IS NULL OR EXISTS (SELECT 1 FROM user_now)
), funds AS (
  SELECT funded, open_max, open_reservations < open_max AS allowed FROM account
), ${budget.look}claim AS (
  SELECT ${id}::uuid AS id, ${projectId}::uuid AS project_id, ${priceMicroUsd}::bigint AS price_micro_usd,
         presign.id AS presign_row
  FROM presign
  WHERE network = ${network} AND curve = ${curve} AND signature_algorithm = ${signatureAlgorithm}
    AND network_encryption_key_id = ${networkEncryptionKeyId}
    AND state = 'ready' AND (SELECT funded AND allowed FROM funds) AND EXISTS (SELECT 1 FROM usable)${budget.andFits}
  ORDER BY ${inTurn} LIMIT 1 FOR UPDATE SKIP LOCKED
), keyed AS (${keyInsert(claimed, keyScopeOf(reservation), idempotency)}), granted AS (
  SELECT * FROM claim WHERE ${idempotency === undefined} OR EXISTS (SELECT 1 FROM keyed)
), ${postings.hold(sql`granted`)}, ${budget.take(sql`posting_hold`)}reserved AS (
  INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm, hash_scheme,
                            message, price_micro_usd, allowance_id, allowance_slot, status, expires_at)
  SELECT c.id, c.project_id, ${dwalletId}, c.presign_row, ${network}, ${curve}, ${signatureAlgorithm}, ${hashScheme},
         ${message}, c.price_micro_usd, ${budget.allowanceId}, ${budget.slot}, 'prepared',
         clock_timestamp() + ${ttlMs}::double precision * interval '1 millisecond'
  FROM granted c JOIN posting_hold USING (id)
  RETURNING id, project_id, presign_id
), held AS (${presignMoves.hold(sql`reserved`)}), audited AS (${auditInsert("sign.reserve", sql`reserved`, origin)})
SELECT coalesce((SELECT funded FROM funds), false) AS funded,
  coalesce((SELECT allowed FROM funds), false) AS allowed,
  coalesce((SELECT open_max FROM funds), 0) AS "openMaxCount",
  EXISTS (SELECT 1 FROM dwallet_now) AS signable, EXISTS (SELECT 1 FROM usable) AS thawed,
  (SELECT count(*) FROM reserved) > 0 AS reserved, ${budget.outcome}`;
}
