import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import { bytesToHex } from "@noble/hashes/utils.js";
import sql, { empty, type Sql } from "sql-template-tag";
import {
  type CreateDWalletRequest,
  CreateDWalletRequestSchema,
  DWalletKind,
} from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { curveOfNumber } from "../../protocol/algorithms.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { checkDkgMessage, checkImportMessage, DkgFormError } from "../../protocol/check-dkg-message.ts";
import type { Allowance } from "../access/allowances/allowance.ts";
import {
  BUDGET_OUTCOME_COLUMNS,
  type BudgetOutcome,
  budgetExceeded,
  budgetParts,
} from "../access/allowances/budgets.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { refuseWhileDraining } from "../chain/network-drain.ts";
import { operationInsert, type WaitTime, waitForOperation } from "../chain/operation.ts";
import { tellRefusal } from "../events/tell-refusal.ts";
import { postings } from "../ledger/postings.ts";
import { topics } from "../platform/coordination/topics.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import { boolean } from "../platform/store/columns.ts";
import { execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { ensureActiveUser } from "../users/ensure-user.ts";
import { isWithinReach, userToMakeFor } from "../users/reach.ts";
import { checkQuota, lockForQuota } from "./check-quota.ts";
import { type DWalletKindName, kindName } from "./dwallet-kind.ts";
import { type DWalletRow, findDWalletOfSession, nameTaken } from "./dwallet-row.ts";
import { curveNumberOf, type EncryptionKeyRow, findKeyByObject } from "./encryption-keys.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller, type OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Requests a DKG or the verification of an imported key, charged once for each session identifier, and waits until its
 * transaction is final. Throws
 * INSUFFICIENT_CREDIT, BUDGET_EXCEEDED, VALIDATION (also for a malformed DKG message), ENCRYPTION_KEY_NOT_FOUND,
 * WRONG_SENDER, STALE_NETWORK_KEY, SESSION_REUSED (the session was used with another body, or out of the caller's
 * reach), DWALLET_NAME_TAKEN, DWALLET_TAKEN (the session's dWallet was adopted), QUOTA_EXCEEDED, NETWORK_DRAINING,
 * CHAIN_REJECTED (the service imports no keys of the curve), OUT_OF_REACH, USER_FROZEN, USER_DELETED, TOO_MANY_USERS, and the errors of waiting for the chain.
 */
export async function createDWallet(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  asked: CreateDWalletRequest,
  time: WaitTime,
): Promise<DWalletRow> {
  const request = forUser(asked, userToMakeFor(caller, asked.userReference));
  const hash = hashRequest(request);
  const { senderAddress, sessionIdentifier } = request;
  const session = { network: deps.network.name, senderAddress, sessionIdentifier };
  const find = () => findDWalletOfSession(deps.database, session);
  let row = await find();
  if (!row) {
    const key = await checkRequest(deps, caller, request);
    await storeDWallet(deps, caller, request, key);
    deps.signals.notify(topics.outbox(deps.network.name));
    deps.signals.notify(topics.presignWanted(deps.network.name));
    row = await find();
    if (!row && request.name !== undefined) throw nameTaken(request.name);
  }
  if (row === null) throw new Error("the dWallet was not stored");
  const isOwn = isWithinReach(caller, row);
  if (!isOwn || !equalBytes(row.requestHash, hash)) {
    throw new ServiceError("SESSION_REUSED", "session_identifier: was used before with another request", {
      metadata: {
        sessionIdentifier: bytesToHex(request.sessionIdentifier),
        ...(isOwn && {
          state: row.state,
          ...(row.objectId !== null && { dwalletId: row.objectId }),
        }),
      },
    });
  }
  if (row.objectId !== null) return row;
  await waitForOperation(deps, "dkg", row.id, time);
  const made = (await find()) ?? row;
  if (made.state === "Failed")
    throw new ServiceError("DWALLET_TAKEN", "session_identifier: its dWallet exists, and was adopted");
  return made;
}

/** Returns the request with its user, which the caller may have left out. The user is a part of the request's hash. */
function forUser(request: CreateDWalletRequest, userReference: string | undefined): CreateDWalletRequest {
  return userReference === undefined ? request : { ...request, userReference };
}

async function checkRequest(
  { database, network, reader, paysImports }: OnboardingDeps,
  caller: OnboardingCaller,
  request: CreateDWalletRequest,
): Promise<EncryptionKeyRow> {
  const { projectId } = caller;
  const { encryptionKeyId: objectId, userReference } = request;
  const key = await findKeyByObject(database, { projectId, objectId, userReference });
  if (!key) {
    const owner = userReference === undefined ? "project" : "user";
    throw new ServiceError("ENCRYPTION_KEY_NOT_FOUND", `the ${owner} has no encryption key with this id`, {
      metadata: { encryptionKeyId: request.encryptionKeyId },
    });
  }
  if (key.curve !== curveNumberOf(request.curve))
    throw invalidField("curve", "is not the encryption key's curve");
  if (!equalBytes(key.signerPublicKey, request.signerPublicKey)) {
    throw invalidField("signer_public_key", "is not the encryption key's signer");
  }
  if (request.senderAddress !== network.senderAddress) {
    throw new ServiceError(
      "WRONG_SENDER",
      "sender_address: is not one of this service's senders; read GetNetwork again",
      {
        metadata: { senderAddresses: network.senderAddress },
      },
    );
  }
  const newest = (await reader.networkKey()).id;
  if (request.networkEncryptionKeyId !== newest) {
    throw new ServiceError(
      "STALE_NETWORK_KEY",
      "network_encryption_key_id: is not the newest; read GetNetwork again",
      {
        metadata: { networkEncryptionKeyId: newest },
      },
    );
  }
  checkDkgForm(key.curve, request);
  // The chain would refuse it until the operator sets a ceiling: charged, not refunded, and sent again and again.
  if (kindName(request.kind) === "imported_key" && !(await paysImports(key.curve))) {
    throw new ServiceError("CHAIN_REJECTED", "kind: this service imports no keys of this curve", {
      metadata: { chainError: "the Treasury has no price ceiling for imported keys of this curve" },
    });
  }
  return key;
}

/**
 * Inserts the row, charges for it and queues its operation. A concurrent call for the same session, or with the same
 * name, may have come first.
 */
async function storeDWallet(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  request: CreateDWalletRequest,
  key: EncryptionKeyRow,
): Promise<void> {
  const { database, network, dkgsPerDay, usersMaxCount } = deps;
  const kind = kindName(request.kind);
  const priceMicroUsd = kind === "imported_key" ? deps.importPriceMicroUsd : deps.dkgPriceMicroUsd;
  let refused: BudgetOutcome | undefined;
  const stored = database.transaction(async (db) => {
    const id = newId();
    await lockForQuota(db, caller.projectId);
    await refuseWhileDraining(db, network.name);
    const { userReference: reference } = request;
    if (reference !== undefined)
      await ensureActiveUser(db, { projectId: caller.projectId, reference }, usersMaxCount);
    const dwallet = { id, projectId: caller.projectId, network: network.name, key, request, priceMicroUsd };
    if (!(await insertDWallet(db, dwallet))) return;
    await checkQuota(db, "dwallet", caller.projectId, dkgsPerDay);
    const charged = await chargeDkg(db, {
      dwalletId: id,
      projectId: caller.projectId,
      network: network.name,
      priceMicroUsd,
      operationId: newId(),
      priority: ONBOARDING_PRIORITY,
      traceParent: caller.origin.traceParent,
      allowance: caller.allowance,
    });
    if (charged === "no-credit") throw insufficientCredit(priceMicroUsd);
    if (charged !== "charged") {
      refused = charged;
      throw budgetExceeded(charged);
    }
    await writeAuditEvent(db, caller.origin, {
      projectId: caller.projectId,
      action: "dwallet.create",
      subject: id,
    });
  });
  await stored.catch(async (error: unknown) => {
    const { userReference } = request;
    if (refused !== undefined) await tellRefusal(deps, caller, { userReference, left: refused });
    throw error;
  });
}

function insufficientCredit(priceMicroUsd: bigint): ServiceError {
  return new ServiceError(
    "INSUFFICIENT_CREDIT",
    "the project's available credit is below the price of a dWallet",
    {
      metadata: { priceMicroUsd: String(priceMicroUsd) },
    },
  );
}

/**
 * Inserts the row as `Submitting`. Returns false if the session has a row in any project, or if another dWallet of the
 * same user has the name. The user of the request, if any, exists.
 */
export async function insertDWallet(db: Queryable, dwallet: NewDWallet): Promise<boolean> {
  const { id, projectId, network, key, request, priceMicroUsd } = dwallet;
  const insertedCount = await execute(
    db,
    sql`INSERT INTO dwallet
          (id, project_id, network, curve, kind, encryption_key_id, network_encryption_key_id, sender_address,
           session_identifier, request_hash, user_dkg_message, encrypted_user_share_and_proof, user_public_output,
           signer_public_key, price_micro_usd, name, user_reference, state)
        VALUES
          (${id}, ${projectId}, ${network}, ${key.curve}, ${kindName(request.kind)}, ${key.id}, ${request.networkEncryptionKeyId},
           ${request.senderAddress}, ${request.sessionIdentifier}, ${hashRequest(request)},
           ${request.userDkgMessage}, ${request.encryptedUserShareAndProof}, ${request.userPublicOutput},
           ${request.signerPublicKey}, ${priceMicroUsd}, ${request.name ?? null}, ${request.userReference ?? null},
           'Submitting')
        ON CONFLICT DO NOTHING RETURNING id`,
  );
  return insertedCount > 0;
}

/** A dWallet to insert before its DKG is requested. */
export interface NewDWallet {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  /** The id of the encryption key's row. */
  readonly key: { readonly id: string; readonly curve: number };
  readonly request: CreateDWalletRequest;
  readonly priceMicroUsd: bigint;
}

/** SHA-256 that distinguishes a repeated request from another one for the same session. */
export function hashRequest(request: CreateDWalletRequest): Uint8Array {
  // A DKG has the same hash with and without its kind: a restored row does not know which of both the caller sent.
  const kind = request.kind === DWalletKind.dkg ? DWalletKind.DWALLET_KIND_UNSPECIFIED : request.kind;
  const bytes = toBinary(CreateDWalletRequestSchema, { ...request, kind });
  return new Uint8Array(createHash("sha256").update(bytes).digest());
}

/**
 * Charges the DKG, takes its price from the caller's budget and queues it, in one statement. Does nothing if the credit
 * or the budget does not suffice. The transaction has locked the project with {@link lockForQuota}: two of these
 * statements that both wait for the project's row can end in a deadlock.
 */
export async function chargeDkg(db: Queryable, dkg: NewDkg): Promise<DkgCharge> {
  const { projectId, operationId, network, priority, traceParent, priceMicroUsd, allowance } = dkg;
  const budget = budgetParts(allowance, priceMicroUsd, { locked: sql`account` });
  const isBudgeted = allowance?.budget !== undefined;
  const account = sql`account AS (SELECT 1 FROM project WHERE id = ${projectId}::uuid FOR NO KEY UPDATE), `;
  const marked = sql`marked AS (
    UPDATE dwallet d SET allowance_id = ${budget.allowanceId}, allowance_slot = ${budget.slot}
    FROM posting_charge p WHERE d.id = p.id
  ), `;
  const [outcome] = await readRows(
    db,
    sql`WITH ${isBudgeted ? account : empty}${budget.look}${charged(dkg, budget.andFits)}, asked AS (
          SELECT ${operationId}::uuid AS operation_id, ${network}::text AS network, id AS subject_id FROM posting_charge
        ), ${budget.take(sql`posting_charge`)}${isBudgeted ? marked : empty}queued AS (
          ${operationInsert({ kind: "dkg", priority, traceParent }, sql`asked`)} RETURNING id
        )
        SELECT (SELECT count(*) FROM queued) > 0 AS charged, ${budget.outcome}`,
    { charged: boolean, ...BUDGET_OUTCOME_COLUMNS },
  );
  if (outcome?.charged) return "charged";
  return outcome?.fitsBudget === false ? outcome : "no-credit";
}

/** The outcome of a charge: what is left of the budget if the price does not fit it. */
type DkgCharge = "charged" | "no-credit" | BudgetOutcome;

/** A DKG to charge and queue. The row of its dWallet exists. */
export interface NewDkg {
  /** The id of the dWallet's row. */
  readonly dwalletId: string;
  readonly projectId: string;
  readonly network: string;
  readonly priceMicroUsd: bigint;
  readonly operationId: string;
  readonly priority: number;
  readonly traceParent: string | undefined;
  /** The limits of the caller. Default: none. */
  readonly allowance?: Allowance | undefined;
}

/** Charges a DKG that the restored, older copy of the database does not know, if the credit suffices. */
export async function chargeLostDkg(db: Queryable, dkg: Charge): Promise<void> {
  await execute(
    db,
    sql`WITH ${charged(dkg)}
        UPDATE dwallet d SET price_micro_usd = s.price_micro_usd
        FROM source s JOIN posting_charge USING (id) WHERE d.id = s.id`,
  );
}

type Charge = Pick<NewDkg, "dwalletId" | "projectId" | "priceMicroUsd">;

/** A charge, under conditions that begin with AND. */
function charged({ dwalletId, projectId, priceMicroUsd }: Charge, conditions = empty): Sql {
  return sql`source AS (
      SELECT ${dwalletId}::uuid AS id, ${projectId}::uuid AS project_id, ${priceMicroUsd}::bigint AS price_micro_usd
      WHERE true${conditions}
    ), ${postings.charge(sql`source`, "dkg")}`;
}

const FORM_CHECKS: Readonly<Record<DWalletKindName, typeof checkDkgMessage>> = {
  dkg: checkDkgMessage,
  imported_key: checkImportMessage,
};

/** Throws VALIDATION, which names the field, if no network would accept the DKG message or that of an imported key. */
export function checkDkgForm(curveNumber: number, request: CreateDWalletRequest): void {
  const curve = curveOfNumber(curveNumber);
  if (curve === undefined) throw invalidField("curve", "is not a curve");
  try {
    FORM_CHECKS[kindName(request.kind)](curve, request);
  } catch (cause) {
    if (!(cause instanceof DkgFormError)) throw cause;
    throw invalidField(FIELDS[cause.part], cause.message);
  }
}

const FIELDS = {
  userDkgMessage: "user_dkg_message",
  encryptedUserShareAndProof: "encrypted_user_share_and_proof",
  userPublicOutput: "user_public_output",
} as const;
