import { fromBase58 } from "@mysten/sui/utils";
import sql, { type Sql } from "sql-template-tag";
import { equalBytes } from "../../../protocol/bytes.ts";
import {
  type HeldDWallet,
  type TreasuryConsent,
  treasuryConsentBytes,
} from "../../../protocol/chain/treasury-custody.ts";
import { suiAddress } from "../../../protocol/signatures/addresses.ts";
import { auditInsert } from "../../audit/audit-event.ts";
import { operationInsert, type WaitTime, waitForOperation } from "../../chain/operation.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { invalidField, ServiceError } from "../../platform/errors/service-error.ts";
import { text } from "../../platform/store/columns.ts";
import { newId, type Queryable, readRows } from "../../platform/store/database.ts";
import { isUniqueViolation } from "../../platform/store/sql-errors.ts";
import { type DWalletRow, findDWallet } from "../dwallet-row.ts";
import { verifyUserSignature } from "../encryption-keys.ts";
import type { OnboardingCaller, OnboardingDeps } from "../onboarding-deps.ts";
import { CONSENT_PRIORITY } from "./consent-operation.ts";
import { type ConsentRow, newestConsent, readConsents } from "./consent-row.ts";
import { queueExit } from "./custody-loop.ts";
import { hasLeft, isLeft, markDWalletLeft, readCustody } from "./custody-state.ts";

/**
 * Sends the consent of a dWallet's owner to the chain, and waits until it is final. A leave first stops new signatures
 * and lets the submitted ones end. A repeated consent returns the result of the first one. Throws DWALLET_NOT_FOUND,
 * DWALLET_NOT_ACTIVE, DWALLET_LEFT, WRONG_STATE while another consent is pending, the errors of {@link checkConsent},
 * and those of waiting for the chain. It works for a frozen user too, because a project may stop its service, but not
 * keep a dWallet from its owner.
 */
export async function useConsent(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  consent: SignedConsent,
  time: WaitTime,
): Promise<UsedConsent> {
  const dwallet = await findDWallet(deps.database, caller, consent.dwalletId);
  const id =
    (await findSame(deps, dwallet, consent)) ??
    (await accept(deps, caller, dwallet, consent)) ??
    // A concurrent call may have stored the same consent first.
    (await findSame(deps, dwallet, consent));
  if (id === undefined) throw await whyNot(deps, caller, consent.dwalletId);
  if (id === NOTHING_TO_DO) return { dwallet, txDigest: undefined };
  await waitForOperation(deps, "consent", id, time);
  const [row] = await readConsents(deps.database, [id]);
  return { dwallet, txDigest: row?.txDigest ?? undefined };
}

/** A consent that has taken effect. */
export interface UsedConsent {
  readonly dwallet: DWalletRow;
  /** Undefined if the consent had already taken effect, so the service sent nothing. */
  readonly txDigest: string | undefined;
}

/** The Treasury already refuses to release this dWallet. */
const NOTHING_TO_DO = Symbol("nothing to do");

/** Returns the id of the dWallet's newest consent if it is the same and has not failed. */
async function findSame(
  { database }: OnboardingDeps,
  dwallet: DWalletRow,
  consent: SignedConsent,
): Promise<string | undefined> {
  const row = await newestConsent(database, dwallet.id, consent.action);
  return row !== undefined && row.state !== "failed" && isSameConsent(row, consent) ? row.id : undefined;
}

/** Returns whether both are the same authorization. Another signature over the same message makes no difference. */
function isSameConsent(row: ConsentRow, consent: SignedConsent): boolean {
  return (
    row.treasuryId === consent.treasuryId &&
    row.recipient === (consent.recipient ?? null) &&
    row.nonce === consent.nonce &&
    row.expiresEpoch === consent.expiresEpoch &&
    equalBytes(row.chain, consent.chain) &&
    equalBytes(row.publicKey, consent.publicKey)
  );
}

/** Checks and stores a new consent. Returns its id, or undefined if another one is pending or the dWallet has left. */
async function accept(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  dwallet: DWalletRow,
  consent: SignedConsent,
): Promise<string | typeof NOTHING_TO_DO | undefined> {
  const { database, network, signals } = deps;
  const { treasuryId } = network.treasury;
  const { dwalletId } = consent;
  if (isLeft(dwallet.state)) return undefined;
  if (consent.action === "leave" && dwallet.state !== "Active")
    throw new ServiceError("DWALLET_NOT_ACTIVE", `the dWallet is ${dwallet.state}`, {
      metadata: { dwalletId, state: dwallet.state },
    });
  const reader = deps.readerFor(caller.projectId);
  const { held, nextNonce } = await readCustody(reader, treasuryId, dwalletId);
  if (held === undefined) {
    await markDWalletLeft(database, dwallet.id);
    return undefined;
  }
  const { epoch } = await reader.epoch();
  const chain = fromBase58(await reader.chainIdentifier());
  checkConsent(consent, { chain, treasuryId, held, nextNonce, epoch });
  if (consent.action === "refuse" && held.isRefused) return NOTHING_TO_DO;
  const id = await storeConsent(database, caller, {
    network: network.name,
    dwalletRowId: dwallet.id,
    consent,
  });
  if (id === undefined) return undefined;
  if (consent.action === "leave") {
    // Most dWallets have no open request, so their exits need not wait for the loop.
    await queueExit(database, network.name);
    signals.notify(topics.leaving(network.name));
  }
  signals.notify(topics.outbox(network.name));
  return id;
}

async function whyNot(
  { database }: OnboardingDeps,
  caller: OnboardingCaller,
  dwalletId: string,
): Promise<ServiceError> {
  const { state } = await findDWallet(database, caller, dwalletId);
  if (state === "Left") return hasLeft(dwalletId, state);
  const message = "another authorization of this dWallet's owner is pending; wait until it ends";
  return new ServiceError("WRONG_STATE", message, { metadata: { state } });
}

/**
 * Checks everything that the Treasury will check, so that the service pays no gas for a consent that the chain refuses.
 * Throws VALIDATION, which names the field, and BAD_SIGNATURE.
 */
export function checkConsent(consent: SignedConsent, facts: ConsentFacts): void {
  const { chain, treasuryId, recipient, nonce, expiresEpoch, publicKey, signature } = consent;
  if (!equalBytes(chain, facts.chain)) throw invalidField("chain", "belongs to another chain");
  if (treasuryId !== facts.treasuryId)
    throw invalidField("treasury_id", `is not this service's Treasury ${facts.treasuryId}`);
  if (recipient !== undefined && [ZERO_ADDRESS, treasuryId, consent.dwalletId].includes(recipient))
    throw invalidField("recipient", "is an address that cannot use the capability");
  if (suiAddress("ED25519", publicKey) !== facts.held.owner)
    throw invalidField("public_key", "is not the key of the dWallet's owner");
  if (nonce !== facts.nextNonce)
    throw invalidField("nonce", `is ${nonce}, but the dWallet's next one is ${facts.nextNonce}`);
  if (expiresEpoch < facts.epoch)
    throw invalidField("expires_epoch", `is ${expiresEpoch}, but the epoch is ${facts.epoch}`);
  if (verifyUserSignature(publicKey, treasuryConsentBytes(consent), signature)) return;
  throw new ServiceError("BAD_SIGNATURE", "signature: is not the owner's, or is over another authorization");
}

/** A consent of a dWallet's owner, with the owner's public key and signature. */
export interface SignedConsent extends TreasuryConsent {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

/** The facts that a consent must match. */
export interface ConsentFacts {
  /** The digest of the chain's first checkpoint. */
  readonly chain: Uint8Array;
  readonly treasuryId: string;
  readonly held: HeldDWallet;
  readonly nextNonce: bigint;
  /** Sui's current epoch. */
  readonly epoch: bigint;
}

const ZERO_ADDRESS = `0x${"00".repeat(32)}`;

/**
 * Stores a consent and its consequences in one statement. A leave makes the dWallet Leaving and waits for its sign
 * requests; a refusal goes into the outbox at once. Returns the id of the consent, or undefined if another consent of
 * the dWallet is pending or its state has changed.
 */
export async function storeConsent(
  db: Queryable,
  caller: OnboardingCaller,
  input: NewConsent,
): Promise<string | undefined> {
  const id = newId();
  const statement = input.consent.action === "leave" ? leave(caller, id, input) : refuse(caller, id, input);
  try {
    const [stored] = await readRows(db, statement, { id: text });
    return stored?.id;
  } catch (error) {
    if (isUniqueViolation(error, "treasury_consent_under_way")) return undefined;
    throw error;
  }
}

/** A consent that has passed all checks. */
export interface NewConsent {
  readonly network: string;
  readonly dwalletRowId: string;
  readonly consent: SignedConsent;
}

/**
 * Reservations lock the dWallet's row FOR SHARE, so none begins after this statement. They lock the project's row
 * first. This statement does so too, because the row of the consent refers to it.
 */
const leave = (caller: OnboardingCaller, id: string, input: NewConsent) => sql`
WITH account AS (
  SELECT id FROM project WHERE id = ${caller.projectId} FOR KEY SHARE
), leaving AS (
  UPDATE dwallet d SET state = 'Leaving', updated_at = now() FROM account a
  WHERE d.id = ${input.dwalletRowId} AND d.project_id = a.id AND d.state = 'Active'
  RETURNING d.id, d.project_id
), consent AS (${insert(id, "settling", input, sql`leaving`)}
), audited AS (${auditInsert("dwallet.leave", sql`leaving`, caller.origin)})
SELECT id FROM consent`;

const refuse = ({ origin }: OnboardingCaller, id: string, input: NewConsent) => sql`
WITH subject AS (
  SELECT id, project_id FROM dwallet WHERE id = ${input.dwalletRowId} AND state NOT IN ('Leaving', 'Left')
), consent AS (${insert(id, "queued", input, sql`subject`)}
), asked AS (
  SELECT ${newId()}::uuid AS operation_id, ${input.network}::text AS network, id AS subject_id FROM consent
), operation AS (${operationInsert({ kind: "consent", priority: CONSENT_PRIORITY, traceParent: origin.traceParent }, sql`asked`)}
), audited AS (${auditInsert("dwallet.refuse-release", sql`subject`, origin)})
SELECT id FROM consent`;

function insert(id: string, state: string, { network, consent }: NewConsent, source: Sql): Sql {
  const { action, chain, treasuryId, recipient, nonce, expiresEpoch, publicKey, signature } = consent;
  return sql`INSERT INTO treasury_consent (id, project_id, network, dwallet_id, action, chain, treasury_id, recipient,
                                           nonce, expires_epoch, public_key, signature, state)
    SELECT ${id}::uuid, project_id, ${network}::text, id, ${action}::text, ${chain}::bytea, ${treasuryId}::text,
           ${recipient ?? null}::text, ${nonce}::bigint, ${expiresEpoch}::bigint, ${publicKey}::bytea,
           ${signature}::bytea, ${state}::text FROM ${source} RETURNING id`;
}
