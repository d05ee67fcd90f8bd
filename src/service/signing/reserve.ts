import type { AlgorithmTriple, SignatureAlgorithmName } from "../../protocol/algorithms.ts";
import { messageSignPrice, type PriceTable } from "../../protocol/price-table.ts";
import type { Allowance } from "../access/allowances/allowance.ts";
import { budgetExceeded } from "../access/allowances/budgets.ts";
import type { AuditOrigin } from "../audit/audit-event.ts";
import { tellRefusal } from "../events/tell-refusal.ts";
import { hasLeft } from "../onboarding/custody/custody-state.ts";
import { needsOwnPresigns } from "../onboarding/dwallet-kind.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { findRemembered, type KeyScope } from "../platform/idempotency/key-table.ts";
import { type Database, newId } from "../platform/store/database.ts";
import type { PresignBucket } from "../presigns/bucket.ts";
import { requestOwnPresigns } from "../presigns/own-presigns.ts";
import { userFrozen } from "../users/ensure-user.ts";
import { type Reaching, reachScope } from "../users/reach.ts";
import { type FoundDWallet, lookBeforeReserving, requireSignable } from "./look-before-reserving.ts";
import { readSignRequest, type SignRequestRow } from "./sign-request.ts";
import { takeReservation } from "./take-reservation.ts";

/**
 * Reserves a presign and holds the price, which depends on the algorithm and the length of the message. While the pool
 * is empty, waits for a presign for up to 20 s or until the deadline. With an idempotency key that was used before,
 * returns the earlier request in its current state; callers with another reach have their own keys. ECDSA of an imported
 * key needs a presign that only this dWallet can use: if none is ready, the call requests one and waits for it. A hold adds
 * its price. Throws CHAIN_REJECTED for a hold if the Treasury has no price ceilings for it, and
 * MESSAGE_TOO_LARGE, IDEMPOTENCY_KEY_REUSED, ALGORITHM_NOT_ALLOWED, INSUFFICIENT_CREDIT, BUDGET_EXCEEDED,
 * TOO_MANY_RESERVATIONS, PRESIGN_POOL_EMPTY and the errors of {@link requireSignable}.
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
  requireHold(caller, input.holdSeconds);
  const { projectId, network } = caller;
  const { dwalletId, idempotency } = input;
  const keyScope = keyScopeOf(caller);
  const asked = { caller, keyScope, dwalletId, idempotency };
  const looked = await lookBeforeReserving(database, asked);
  const earlier = looked.earlierId && (await readSignRequest(database, { id: looked.earlierId, caller }));
  if (earlier) return earlier;
  const dwallet = requireSignable(looked, input.triple);
  const id = newId();
  const { length } = input.message;
  const holdPriceMicroUsd = input.holdSeconds === undefined ? 0n : deps.prices.holdMicroUsd;
  const priceMicroUsd =
    messageSignPrice(deps.prices, input.triple.signatureAlgorithm, length) + holdPriceMicroUsd;
  if (input.holdSeconds !== undefined) await requireHolds(deps, input.triple);
  const bucket = {
    network,
    curve: input.triple.curveNumber,
    signatureAlgorithm: input.triple.signatureAlgorithmNumber,
    ...scopeOf(dwallet, input),
  };
  const reservation = {
    ...bucket,
    id,
    projectId,
    dwalletId: dwallet.id,
    hashScheme: input.triple.hashNumber,
    message: input.message,
    priceMicroUsd,
    holdSeconds: input.holdSeconds,
    holdPriceMicroUsd,
    ttlMs: deps.reservationTtlMs,
    openMaxCount: deps.openMaxCount,
    allowance: caller.allowance,
    keyScope: keyScope.scope,
    idempotency,
    signal: time.signal,
  };
  const wait = {
    projectId,
    timeoutMs: Math.min(WAIT_MAX_MS, (time.timeoutMs ?? Number.POSITIVE_INFINITY) - REPLY_MARGIN_MS),
    signal: time.signal,
  };
  const row = await presigns.take(bucket, wait, async () => {
    const outcome = await takeReservation(database, caller.origin, reservation);
    if (typeof outcome === "object" && "reserved" in outcome) return outcome.reserved;
    // Another call with the same key came first. Its row also answers this one.
    const first = await findRepeated(deps, caller, input);
    if (first !== undefined) return first;
    // The dWallet was Active when this call began, so it is leaving now.
    if (outcome === "frozen") throw userFrozen(dwallet.userReference ?? "");
    if (outcome === "not-active") throw hasLeft(input.dwalletId, "Leaving");
    if (outcome === "no-credit") throw insufficientCredit(priceMicroUsd);
    if (outcome === "no-presign") {
      if (bucket.ofDWallet) await requestOwn(deps, bucket);
      return undefined;
    }
    if ("growsAt" in outcome) {
      await tellRefusal(deps, caller, { userReference: dwallet.userReference, left: outcome });
      throw budgetExceeded(outcome);
    }
    throw tooManyReservations(outcome.openMaxCount);
  });
  if (row === undefined) {
    const message = bucket.ofDWallet
      ? "no presign for this imported key is ready yet; try again"
      : "no presign is ready; the pool is being refilled";
    throw new ServiceError("PRESIGN_POOL_EMPTY", message);
  }
  signals.notify(topics.presignWanted(network));
  return row;
}

/** The chain would refuse the half until the operator sets the ceilings, so nothing is reserved for it. */
async function requireHolds({ paysHolds }: ReserveDeps, triple: AlgorithmTriple): Promise<void> {
  if (await paysHolds?.(triple.curveNumber, triple.signatureAlgorithmNumber)) return;
  throw new ServiceError("CHAIN_REJECTED", "hold_seconds: this service holds no halves of this algorithm", {
    metadata: { chainError: "the Treasury has no price ceilings for held halves of this algorithm" },
  });
}

/** The bucket that the dWallet's presigns of an algorithm are in. */
function scopeOf(
  dwallet: FoundDWallet,
  { dwalletId, triple }: ReserveInput,
): Pick<PresignBucket, "networkEncryptionKeyId"> & { readonly ofDWallet: boolean } {
  return needsOwnPresigns(dwallet, triple.signatureAlgorithm)
    ? { networkEncryptionKeyId: dwalletId, ofDWallet: true }
    : { networkEncryptionKeyId: dwallet.networkEncryptionKeyId, ofDWallet: false };
}

/** The queue of reservations that wait for a presign. */
export interface PresignTurns {
  take<T>(
    bucket: PresignBucket,
    wait: { projectId: string; timeoutMs: number; signal: AbortSignal },
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined>;
  waitingCount(bucket: PresignBucket): number;
}

/** Requests presigns that only one dWallet can use, for this caller and the others of this process that wait. */
async function requestOwn(
  { database, presigns, signals }: Pick<ReserveDeps, "database" | "presigns" | "signals">,
  bucket: PresignBucket,
): Promise<void> {
  const count = await requestOwnPresigns(database, bucket, Math.max(1, presigns.waitingCount(bucket)));
  if (count > 0) signals.notify(topics.outbox(bucket.network));
}

export interface ReserveDeps {
  readonly database: Database;
  readonly presigns: PresignTurns;
  readonly signals: Signals;
  readonly prices: PriceTable;
  readonly reservationTtlMs: number;
  /** The maximum number of open reservations of a project. */
  readonly openMaxCount: number;
  /** Returns whether the Treasury pays for held halves, by the chain's numbers. Default: it pays for none. */
  readonly paysHolds?: ((curve: number, signatureAlgorithm: number) => Promise<boolean>) | undefined;
}

export interface SigningCaller extends Reaching {
  readonly network: string;
  /** Whether its requests must have a hold. Default false. */
  readonly holdsOnly?: boolean | undefined;
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
  /** How long the half is held for a release, in seconds. Default: the request is signed at once. */
  readonly holdSeconds?: number | undefined;
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
  return remembered?.subjectId ? readSignRequest(database, { id: remembered.subjectId, caller }) : undefined;
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

/** Throws SCOPE_MISSING if the caller may only sign with a hold, and the request has none. */
export function requireHold({ holdsOnly }: SigningCaller, holdSeconds: number | null | undefined): void {
  if (holdsOnly !== true || typeof holdSeconds === "number") return;
  throw new ServiceError("SCOPE_MISSING", "without the scope sign, the key needs hold_seconds", {
    metadata: { scope: "sign" },
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
