import { bytesToHex } from "@noble/hashes/utils.js";
import type { CreateDWalletRequest } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { refuseWhileDraining } from "../chain/network-drain.ts";
import { type WaitTime, waitForOperation } from "../chain/wait-for-operation.ts";
import { topics } from "../coordination/topics.ts";
import { invalidField, ServiceError } from "../errors/service-error.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { newId } from "../store/ids.ts";
import { chargeDkg } from "./charge-dkg.ts";
import { checkDkgForm } from "./check-dkg-form.ts";
import { checkQuota, lockForQuota } from "./check-quota.ts";
import { curveNumberOf } from "./curve-number.ts";
import { type DWalletRow, findDWalletOfSession } from "./dwallet-row.ts";
import { type EncryptionKeyRow, findKeyByObject } from "./encryption-key-row.ts";
import { hashRequest, insertDWallet } from "./insert-dwallet.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller, type OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Requests a DKG, charged once for each session identifier, and waits until its transaction is final. Throws
 * INSUFFICIENT_CREDIT, VALIDATION (also for a malformed DKG message), ENCRYPTION_KEY_NOT_FOUND, WRONG_SENDER,
 * STALE_NETWORK_KEY, SESSION_REUSED (the session was used with another body, or by another project),
 * DWALLET_NAME_TAKEN, QUOTA_EXCEEDED, NETWORK_DRAINING, and the errors of waiting for the chain.
 */
export async function createDWallet(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  request: CreateDWalletRequest,
  time: WaitTime,
): Promise<DWalletRow> {
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
  if (row?.projectId !== caller.projectId || !equalBytes(row.requestHash, hash)) {
    throw new ServiceError("SESSION_REUSED", "session_identifier: was used before with another request", {
      metadata: {
        sessionIdentifier: bytesToHex(request.sessionIdentifier),
        ...(row?.projectId === caller.projectId && {
          state: row.state,
          ...(row.objectId !== null && { dwalletId: row.objectId }),
        }),
      },
    });
  }
  if (row.objectId !== null) return row;
  await waitForOperation(deps, "dkg", row.id, time);
  return (await find()) ?? row;
}

async function checkRequest(
  { database, network, reader }: OnboardingDeps,
  caller: OnboardingCaller,
  request: CreateDWalletRequest,
): Promise<EncryptionKeyRow> {
  const { projectId } = caller;
  const key = await findKeyByObject(database, { projectId, objectId: request.encryptionKeyId });
  if (!key) {
    throw new ServiceError("ENCRYPTION_KEY_NOT_FOUND", "the project has no encryption key with this id", {
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
  return key;
}

/**
 * Inserts the row, charges for it and queues its operation. A concurrent call for the same session, or with the same
 * name, may have come first.
 */
async function storeDWallet(
  { database, network, dkgsPerDay, dkgPriceMicroUsd: priceMicroUsd }: OnboardingDeps,
  caller: OnboardingCaller,
  request: CreateDWalletRequest,
  key: EncryptionKeyRow,
): Promise<void> {
  await database.transaction(async (db) => {
    const id = newId();
    await lockForQuota(db, caller.projectId);
    await refuseWhileDraining(db, network.name);
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
    });
    if (!charged) throw insufficientCredit(priceMicroUsd);
    await writeAuditEvent(db, caller.origin, {
      projectId: caller.projectId,
      action: "dwallet.create",
      subject: id,
    });
  });
}

function nameTaken(name: string): ServiceError {
  return new ServiceError("DWALLET_NAME_TAKEN", "name: another dWallet of the project has this name", {
    metadata: { name },
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
