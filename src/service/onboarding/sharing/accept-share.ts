import sql from "sql-template-tag";
import type { AcceptShareRequest } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { parseEncryptedShare } from "../../../protocol/chain/chain-objects.ts";
import type { ChainReader } from "../../../protocol/chain/chain-reader.ts";
import { MixedUpAnswerError } from "../../../protocol/chain/read-errors.ts";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import { acceptedShares } from "../../chain/events.ts";
import {
  enqueueOperation,
  type OperationKind,
  type WaitTime,
  waitForOperation,
} from "../../chain/operation.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { bytea, text } from "../../platform/store/columns.ts";
import { execute, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import { refuseFrozenUser } from "../../users/ensure-user.ts";
import { hasLeft, isLeft } from "../custody/custody-state.ts";
import { verifyUserSignature } from "../encryption-keys.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller } from "../onboarding-deps.ts";
import { requireSeen } from "./holders.ts";
import { holderNotFound, readShares, type ShareRow, seesShare } from "./share-row.ts";
import { markAccepted, recordShareState } from "./share-state.ts";
import type { SharingDeps } from "./sharing-deps.ts";

/**
 * Accepts a share for its recipient, and checks the recipient's signature before it spends gas. The recipient's user may
 * then sign. A repeated call returns the holder. Throws DWALLET_NOT_FOUND, HOLDER_NOT_FOUND, DWALLET_LEFT, WRONG_STATE,
 * BAD_SIGNATURE, USER_FROZEN, CHAIN_READS_EXHAUSTED, and the errors of waiting for the chain.
 */
export async function acceptShare(
  deps: SharingDeps,
  caller: OnboardingCaller,
  request: AcceptShareRequest,
  time: WaitTime,
): Promise<ShareRow> {
  const { database, network, signals } = deps;
  const { dwalletId } = request;
  await requireSeen(database, caller, dwalletId);
  const find = async () => {
    const where = sql`${seesShare(caller)} AND d.object_id = ${dwalletId}
      AND s.object_id = ${request.encryptedUserSecretKeyShareId}`;
    const [row] = await readShares(database, where, 1);
    if (row === undefined) throw holderNotFound(dwalletId);
    return row;
  };
  const row = await refreshed(deps, await find(), find);
  if (row.state === "Accepted") return row;
  if (isLeft(row.dwalletState)) throw hasLeft(dwalletId, row.dwalletState);
  if (row.state !== "AwaitingAcceptance" || row.dwalletPublicOutput === null)
    throw new ServiceError("WRONG_STATE", `the share is ${row.state}`, { metadata: { state: row.state } });
  if (!verifyUserSignature(row.recipientPublicKey, row.dwalletPublicOutput, request.userOutputSignature))
    throw new ServiceError(
      "BAD_SIGNATURE",
      "user_output_signature: does not verify over the dWallet's public output",
    );
  await storeAcceptance(deps, caller, row, request.userOutputSignature);
  signals.notify(topics.outbox(network.name));
  await waitForOperation(deps, "accept_share", row.id, time);
  return await find();
}

/** Returns the share in the state of the chain, if the network has verified it since the service last saw it. */
async function refreshed(
  { database, readerFor, refundsPerDay }: SharingDeps,
  row: ShareRow,
  find: () => Promise<ShareRow>,
): Promise<ShareRow> {
  if (row.state !== "AwaitingNetworkVerification" || row.objectId === null) return row;
  const content = (await readerFor(row.projectId).getObjects([row.objectId])).get(row.objectId);
  if (content === undefined) return row;
  await recordShareState(database, row.id, content, refundsPerDay);
  return await find();
}

async function storeAcceptance(
  { database, network }: SharingDeps,
  caller: OnboardingCaller,
  { id, ownerReference, userReference }: ShareRow,
  userOutputSignature: Uint8Array,
): Promise<void> {
  const { projectId, origin } = caller;
  await database.transaction(async (db) => {
    // Locks the operation before the row, as the submitter does.
    await enqueueOperation(
      db,
      {
        id: newId(),
        network: network.name,
        kind: "accept_share",
        subjectId: id,
        priority: ONBOARDING_PRIORITY,
        traceParent: origin.traceParent,
      },
      { again: true },
    );
    for (const reference of [ownerReference, userReference])
      if (reference !== null) await refuseFrozenUser(db, { projectId, reference });
    await execute(
      db,
      sql`UPDATE dwallet_share SET user_output_signature = ${userOutputSignature}, updated_at = now() WHERE id = ${id}`,
    );
    await writeAuditEvent(db, origin, { projectId, action: "dwallet.accept-share", subject: id });
  });
}

/** Accepts shares for other users with the coordinator. The mark on the chain is the share's state. */
export function createAcceptShareOperation(reader: ChainReader): OperationKind<AcceptShareSubject> {
  return {
    name: "accept_share",
    priority: ONBOARDING_PRIORITY,
    batchCount: BATCH_COUNT,
    async load(db, subjectIds) {
      const rows = await readRows<AcceptShareSubject>(
        db,
        sql`SELECT s.id, d.object_id AS "dwalletId", s.object_id AS "encryptedUserSecretKeyShareId",
              s.user_output_signature AS "userOutputSignature"
            FROM dwallet_share s JOIN dwallet d ON d.id = s.dwallet_id WHERE s.id = ANY(${subjectIds}::uuid[])`,
        { id: text, dwalletId: text, encryptedUserSecretKeyShareId: text, userOutputSignature: bytea },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: () => SIZE_BYTES,
    add(calls, subjects) {
      for (const subject of subjects) calls.acceptEncryptedUserShare(subject);
    },
    async landed(db, subjects, { digest, events }) {
      const accepted = new Set(acceptedShares(events).map(({ shareId }) => shareId));
      for (const { id, encryptedUserSecretKeyShareId } of subjects) {
        if (!accepted.has(encryptedUserSecretKeyShareId))
          throw new MixedUpAnswerError("transaction", `transaction ${digest} accepted no share for ${id}`);
        await markAccepted(db, id, digest);
      }
    },
    async failed() {
      // The outbox records the reason. The share keeps its state on the chain, and the caller may try again.
    },
    async adopt(db, { id, encryptedUserSecretKeyShareId: objectId }) {
      const content = (await reader.getObjects([objectId])).get(objectId);
      if (content === undefined || parseEncryptedShare(content).state.kind !== "KeyHolderSigned")
        return false;
      await markAccepted(db, id, null);
      return true;
    },
  };
}

interface AcceptShareSubject {
  readonly id: string;
  readonly dwalletId: string;
  readonly encryptedUserSecretKeyShareId: string;
  readonly userOutputSignature: Uint8Array;
}

const SIZE_BYTES = 250;
const BATCH_COUNT = 10;

/**
 * Restores the recipient's signature of an accepted share. Returns the share's row, or undefined if it is unknown, such as
 * an owner's own share.
 */
export async function recordLostShareAcceptance(
  db: Queryable,
  network: string,
  { shareId, userOutputSignature }: ReturnType<typeof acceptedShares>[number],
): Promise<string | undefined> {
  const [row] = await readRows(
    db,
    sql`UPDATE dwallet_share SET user_output_signature = ${userOutputSignature}
        WHERE network = ${network} AND object_id = ${shareId} RETURNING id`,
    { id: text },
  );
  return row?.id;
}
