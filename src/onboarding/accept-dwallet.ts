import sql from "sql-template-tag";
import type { AcceptDWalletRequest } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { enqueueOperation } from "../chain/operation.ts";
import { type WaitTime, waitForOperation } from "../chain/wait-for-operation.ts";
import { topics } from "../coordination/topics.ts";
import { invalidField, ServiceError } from "../errors/service-error.ts";
import { newId } from "../store/ids.ts";
import { execute } from "../store/statements.ts";
import { type DWalletRow, findDWallet } from "./dwallet-row.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller, type OnboardingDeps } from "./onboarding-deps.ts";
import { readDWallet } from "./read-dwallet.ts";
import { verifyUserSignature } from "./verify-user-signature.ts";

/**
 * Accepts the encrypted share for the user, and checks the user's signature before it spends gas. The dWallet becomes
 * Active. A repeated call returns the first transaction. Throws DWALLET_NOT_FOUND, VALIDATION, WRONG_STATE,
 * BAD_SIGNATURE, and the errors of waiting for the chain.
 */
export async function acceptDWallet(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  request: AcceptDWalletRequest,
  time: WaitTime,
): Promise<DWalletRow> {
  const row = await readDWallet(deps, caller.projectId, request.dwalletId);
  if (row.encryptedUserSecretKeyShareId !== request.encryptedUserSecretKeyShareId) {
    throw invalidField("encrypted_user_secret_key_share_id", "is not the dWallet's share");
  }
  if (row.state === "Active") return row;
  if (row.state !== "AwaitingKeyHolderSignature" || row.publicOutput === null) {
    throw new ServiceError("WRONG_STATE", `the dWallet is ${row.state}`, { metadata: { state: row.state } });
  }
  if (!verifyUserSignature(row.signerPublicKey, row.publicOutput, request.userOutputSignature)) {
    throw new ServiceError(
      "BAD_SIGNATURE",
      "user_output_signature: does not verify over the dWallet's public output",
    );
  }
  await storeAcceptance(deps, caller, row, request.userOutputSignature);
  deps.signals.notify(topics.outbox(deps.network.name));
  await waitForOperation(deps, "accept", row.id, time);
  return findDWallet(deps.database, caller.projectId, request.dwalletId);
}

async function storeAcceptance(
  { database, network }: OnboardingDeps,
  caller: OnboardingCaller,
  row: DWalletRow,
  userOutputSignature: Uint8Array,
): Promise<void> {
  await database.transaction(async (db) => {
    // Locks the operation before the row, as the submitter does.
    await enqueueOperation(
      db,
      {
        id: newId(),
        network: network.name,
        kind: "accept",
        subjectId: row.id,
        priority: ONBOARDING_PRIORITY,
        traceParent: caller.origin.traceParent,
      },
      { again: true },
    );
    await execute(
      db,
      sql`UPDATE dwallet SET user_output_signature = ${userOutputSignature}, updated_at = now() WHERE id = ${row.id}`,
    );
    await writeAuditEvent(db, caller.origin, {
      projectId: caller.projectId,
      action: "dwallet.accept",
      subject: row.id,
    });
  });
}
