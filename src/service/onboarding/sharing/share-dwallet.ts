import { createHash } from "node:crypto";
import sql, { empty } from "sql-template-tag";
import type { ShareDWalletRequest } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { shareConsentBytes } from "../../../protocol/chain/share-consent.ts";
import { suiAddress } from "../../../protocol/signatures/addresses.ts";
import {
  BUDGET_OUTCOME_COLUMNS,
  type BudgetOutcome,
  budgetExceeded,
  budgetParts,
} from "../../access/allowances/budgets.ts";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import { refuseWhileDraining } from "../../chain/network-drain.ts";
import { operationInsert, type WaitTime, waitForOperation } from "../../chain/operation.ts";
import { tellRefusal } from "../../events/tell-refusal.ts";
import { postings } from "../../ledger/postings.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { invalidField, ServiceError } from "../../platform/errors/service-error.ts";
import { boolean, number } from "../../platform/store/columns.ts";
import { execute, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import { refuseFrozenUser } from "../../users/ensure-user.ts";
import { checkQuota, lockForQuota } from "../check-quota.ts";
import { hasLeft, isLeft } from "../custody/custody-state.ts";
import { type DWalletRow, findDWallet } from "../dwallet-row.ts";
import { type EncryptionKeyRow, findKeyOfSigner, verifyUserSignature } from "../encryption-keys.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller } from "../onboarding-deps.ts";
import { isLive, readShares, type ShareRow } from "./share-row.ts";
import type { SharingDeps } from "./sharing-deps.ts";

/**
 * Sends a share to the network that the owner has encrypted for another user, charged once while it is not final, and
 * waits until its transaction is final. A live share of the same recipient is returned as it is. Throws
 * DWALLET_NOT_FOUND, DWALLET_NOT_ACTIVE, DWALLET_LEFT, ENCRYPTION_KEY_NOT_FOUND, VALIDATION, which names the field,
 * BAD_SIGNATURE, WRONG_STATE for a consent that was used before, TOO_MANY_HOLDERS, QUOTA_EXCEEDED, INSUFFICIENT_CREDIT,
 * BUDGET_EXCEEDED, NETWORK_DRAINING, USER_FROZEN, USER_DELETED, and the errors of waiting for the chain.
 */
export async function shareDWallet(
  deps: SharingDeps,
  caller: OnboardingCaller,
  request: ShareDWalletRequest,
  time: WaitTime,
): Promise<ShareRow> {
  const { database, network, signals } = deps;
  const dwallet = await findDWallet(database, caller, request.dwalletId);
  const key = await findRecipient(deps, dwallet, request);
  const ofRecipient = sql`s.dwallet_id = ${dwallet.id} AND s.encryption_key_id = ${key.id}`;
  const find = async () => (await readShares(database, sql`${ofRecipient} AND ${isLive}`, 1))[0];
  let row = await find();
  if (row !== undefined) requireSameUser(row, request);
  else {
    await checkRequest(deps, caller, request, dwallet);
    await storeShare(deps, caller, request, { dwallet, key });
    signals.notify(topics.outbox(network.name));
    row = await find();
    if (row === undefined) {
      requireActive(await findDWallet(database, caller, request.dwalletId));
      throw new ServiceError("WRONG_STATE", "signature: this consent was used before; share again", {
        metadata: { state: "Removed" },
      });
    }
    // A concurrent call may have come first.
    requireSameUser(row, request);
  }
  if (row.objectId !== null) return row;
  await waitForOperation(deps, "share", row.id, time);
  return (await readShares(database, sql`s.id = ${row.id}`, 1))[0] ?? row;
}

/** The holder of a live share is one user. The share of another one would not let this user sign. */
function requireSameUser({ userReference }: ShareRow, request: ShareDWalletRequest): void {
  if (userReference === (request.userReference ?? null)) return;
  throw invalidField("user_reference", "is not the user of the recipient's share; remove the holder first");
}

/** Returns the recipient's key, which is registered for the named user, on the dWallet's curve. */
async function findRecipient(
  { database }: SharingDeps,
  { projectId, curve }: DWalletRow,
  { recipientAddress: signerAddress, userReference }: ShareDWalletRequest,
): Promise<EncryptionKeyRow> {
  const key = await findKeyOfSigner(database, { projectId, curve, signerAddress });
  if (key?.objectId && (userReference === undefined || (await isOfUser(database, key.id, userReference))))
    return key;
  throw new ServiceError(
    "ENCRYPTION_KEY_NOT_FOUND",
    "the project or the user has no encryption key of this address on the dWallet's curve",
    { metadata: { encryptionKeyId: signerAddress } },
  );
}

async function isOfUser(db: Queryable, keyId: string, reference: string): Promise<boolean> {
  const query = sql`SELECT 1 FROM encryption_key_user
                    WHERE encryption_key_id = ${keyId} AND reference = ${reference} LIMIT 1`;
  return (await execute(db, query)) > 0;
}

/** Checks everything that the owner signs. */
async function checkRequest(
  { readerFor }: SharingDeps,
  { projectId }: OnboardingCaller,
  request: ShareDWalletRequest,
  dwallet: DWalletRow,
): Promise<void> {
  const { dwalletId, recipientAddress, expiresEpoch } = request;
  requireActive(dwallet);
  if (request.projectId !== projectId) throw invalidField("project_id", "is not the caller's project");
  if (recipientAddress === suiAddress("ED25519", dwallet.signerPublicKey))
    throw invalidField("recipient_address", "is the dWallet's owner");
  const { epoch } = await readerFor(projectId).epoch();
  if (expiresEpoch < epoch)
    throw invalidField("expires_epoch", `is ${expiresEpoch}, but the epoch is ${epoch}`);
  const { encryptedUserShareAndProof, userReference, signature } = request;
  const consent = {
    dwalletId,
    recipientAddress,
    encryptedUserShareAndProof,
    projectId,
    userReference,
    expiresEpoch,
  };
  if (!verifyUserSignature(dwallet.signerPublicKey, shareConsentBytes(consent), signature))
    throw new ServiceError("BAD_SIGNATURE", "signature: is not the owner's, or is over another share");
}

function requireActive({ objectId, state, encryptedUserSecretKeyShareId }: DWalletRow): void {
  const dwalletId = objectId ?? "";
  if (isLeft(state)) throw hasLeft(dwalletId, state);
  if (state === "Active" && encryptedUserSecretKeyShareId !== null) return;
  throw new ServiceError("DWALLET_NOT_ACTIVE", `the dWallet is ${state}`, { metadata: { dwalletId, state } });
}

/** Inserts the row, charges for it and queues its operation. A concurrent call may have come first. */
async function storeShare(
  deps: SharingDeps,
  caller: OnboardingCaller,
  request: ShareDWalletRequest,
  { dwallet, key }: SharedWith,
): Promise<void> {
  const { database, network, dkgsPerDay, sharePriceMicroUsd: priceMicroUsd } = deps;
  const { projectId } = caller;
  let refused: BudgetOutcome | undefined;
  const stored = database.transaction(async (db) => {
    const id = newId();
    await lockForQuota(db, projectId);
    await refuseWhileDraining(db, network.name);
    for (const reference of [dwallet.userReference, request.userReference])
      if (typeof reference === "string") await refuseFrozenUser(db, { projectId, reference });
    const share = { id, projectId, network: network.name, request, priceMicroUsd, dwallet, key };
    if (!(await insertShare(db, share))) return;
    await checkHolders(db, dwallet);
    await checkQuota(db, "dwallet_share", projectId, dkgsPerDay);
    const charged = await chargeShare(db, caller, share);
    if (charged === "no-credit")
      throw new ServiceError(
        "INSUFFICIENT_CREDIT",
        "the project's available credit is below the price of a share",
        { metadata: { priceMicroUsd: String(priceMicroUsd) } },
      );
    if (charged !== "charged") {
      refused = charged;
      throw budgetExceeded(charged);
    }
    await writeAuditEvent(db, caller.origin, { projectId, action: "dwallet.share", subject: id });
  });
  await stored.catch(async (error: unknown) => {
    if (refused !== undefined)
      await tellRefusal(deps, caller, { userReference: dwallet.userReference ?? undefined, left: refused });
    throw error;
  });
}

/** The dWallet, and the key that its share is for. */
interface SharedWith {
  readonly dwallet: DWalletRow;
  readonly key: EncryptionKeyRow;
}

interface NewShare extends SharedWith {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  readonly request: ShareDWalletRequest;
  readonly priceMicroUsd: bigint;
}

/**
 * Inserts the row as `Submitting`. Returns false if the recipient has a live share, if the consent was used before, or if
 * the dWallet is no longer Active. The dWallet's row is locked FOR SHARE, so a later exit sees the share.
 */
async function insertShare(
  db: Queryable,
  { id, projectId, network, request, priceMicroUsd, dwallet, key }: NewShare,
): Promise<boolean> {
  const { encryptedUserShareAndProof: share } = request;
  const insertedCount = await execute(
    db,
    sql`INSERT INTO dwallet_share
          (id, project_id, network, dwallet_id, encryption_key_id, user_reference, source_share_id,
           encrypted_user_share_and_proof, share_hash, state, price_micro_usd)
        SELECT ${id}, ${projectId}, ${network}, d.id, ${key.id}, ${request.userReference ?? null},
          d.encrypted_user_secret_key_share_id, ${share}, ${createHash("sha256").update(share).digest()}, 'Submitting',
          ${priceMicroUsd}
        FROM dwallet d WHERE d.id = ${dwallet.id} AND d.state = 'Active' FOR SHARE
        ON CONFLICT DO NOTHING RETURNING id`,
  );
  return insertedCount > 0;
}

/** Throws TOO_MANY_HOLDERS if the dWallet has more live shares than the maximum. The project is locked. */
async function checkHolders(db: Queryable, { id, objectId }: DWalletRow): Promise<void> {
  const [row] = await readRows(
    db,
    sql`SELECT count(*)::int AS count FROM dwallet_share s WHERE s.dwallet_id = ${id} AND ${isLive}`,
    { count: number },
  );
  if ((row?.count ?? 0) <= HOLDERS_MAX_COUNT) return;
  throw new ServiceError("TOO_MANY_HOLDERS", `a dWallet may have ${HOLDERS_MAX_COUNT} holders`, {
    metadata: { dwalletId: objectId ?? "", maxCount: String(HOLDERS_MAX_COUNT) },
  });
}

/** The maximum number of holders of a dWallet besides its owner. */
const HOLDERS_MAX_COUNT = 8;

/** Charges the share, takes its price from the caller's budget and queues it, in one statement. */
async function chargeShare(
  db: Queryable,
  { allowance, origin }: OnboardingCaller,
  { id, projectId, network, priceMicroUsd }: NewShare,
): Promise<"charged" | "no-credit" | BudgetOutcome> {
  const budget = budgetParts(allowance, priceMicroUsd, { locked: sql`account` });
  const isBudgeted = allowance?.budget !== undefined;
  const account = sql`account AS (SELECT 1 FROM project WHERE id = ${projectId}::uuid FOR NO KEY UPDATE), `;
  const marked = sql`marked AS (
    UPDATE dwallet_share d SET allowance_id = ${budget.allowanceId}, allowance_slot = ${budget.slot}
    FROM posting_charge p WHERE d.id = p.id
  ), `;
  const operation = {
    kind: "share",
    priority: ONBOARDING_PRIORITY,
    traceParent: origin.traceParent,
  } as const;
  const [outcome] = await readRows(
    db,
    sql`WITH ${isBudgeted ? account : empty}${budget.look}source AS (
          SELECT ${id}::uuid AS id, ${projectId}::uuid AS project_id, ${priceMicroUsd}::bigint AS price_micro_usd
          WHERE true${budget.andFits}
        ), ${postings.charge(sql`source`, "share")}, asked AS (
          SELECT ${newId()}::uuid AS operation_id, ${network}::text AS network, id AS subject_id FROM posting_charge
        ), ${budget.take(sql`posting_charge`)}${isBudgeted ? marked : empty}queued AS (
          ${operationInsert(operation, sql`asked`)} RETURNING id
        )
        SELECT (SELECT count(*) FROM queued) > 0 AS charged, ${budget.outcome}`,
    { charged: boolean, ...BUDGET_OUTCOME_COLUMNS },
  );
  if (outcome?.charged) return "charged";
  return outcome?.fitsBudget === false ? outcome : "no-credit";
}
