import sql from "sql-template-tag";
import type { AcceptDWalletRequest } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { parseDWallet } from "../../protocol/chain/chain-objects.ts";
import type { ChainReader } from "../../protocol/chain/chain-reader.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { acceptedShares } from "../chain/events.ts";
import { enqueueOperation, type OperationKind, type WaitTime, waitForOperation } from "../chain/operation.ts";
import { topics } from "../platform/coordination/topics.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import { bytea, text } from "../platform/store/columns.ts";
import { execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { refuseFrozenUser } from "../users/ensure-user.ts";
import { dwalletEventInsert, eventColumns } from "./dwallet-event.ts";
import { type DWalletRow, findDWallet, readDWallet } from "./dwallet-row.ts";
import { verifyUserSignature } from "./encryption-keys.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller, type OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Accepts the encrypted share for the user, and checks the user's signature before it spends gas. The dWallet becomes
 * Active. A repeated call returns the first transaction. Throws DWALLET_NOT_FOUND, VALIDATION, WRONG_STATE,
 * BAD_SIGNATURE, USER_FROZEN, and the errors of waiting for the chain.
 */
export async function acceptDWallet(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  request: AcceptDWalletRequest,
  time: WaitTime,
): Promise<DWalletRow> {
  const row = await readDWallet(deps, caller, request.dwalletId);
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
  return findDWallet(deps.database, caller, request.dwalletId);
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
    const { projectId } = caller;
    if (row.userReference !== null) await refuseFrozenUser(db, { projectId, reference: row.userReference });
    await execute(
      db,
      sql`UPDATE dwallet SET user_output_signature = ${userOutputSignature}, updated_at = now() WHERE id = ${row.id}`,
    );
    await writeAuditEvent(db, caller.origin, { projectId, action: "dwallet.accept", subject: row.id });
  });
}

/** Accepts encrypted shares with the coordinator. The mark on the chain is the dWallet's state. */
export function createAcceptOperation(reader: ChainReader): OperationKind<AcceptSubject> {
  return {
    name: "accept",
    priority: ONBOARDING_PRIORITY,
    batchCount: BATCH_COUNT,
    async load(db, subjectIds) {
      const rows = await readRows<AcceptSubject>(
        db,
        sql`SELECT id, object_id AS "dwalletId", encrypted_user_secret_key_share_id AS "encryptedUserSecretKeyShareId",
                user_output_signature AS "userOutputSignature"
         FROM dwallet WHERE id = ANY(${subjectIds}::uuid[])`,
        { id: text, dwalletId: text, encryptedUserSecretKeyShareId: text, userOutputSignature: bytea },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: () => SIZE_BYTES,
    add(calls, subjects) {
      for (const subject of subjects) calls.acceptEncryptedUserShare(subject);
    },
    async landed(db, subjects, { digest, events }) {
      const accepted = new Set(acceptedShares(events).map(({ dwalletId }) => dwalletId));
      for (const { id, dwalletId } of subjects) {
        if (!accepted.has(dwalletId))
          throw new MixedUpAnswerError(
            "transaction",
            `transaction ${digest} accepted no share of ${dwalletId}`,
          );
        await setActive(db, id, digest);
      }
    },
    async failed() {
      // The outbox records the reason. The dWallet keeps its state on the chain, and the caller may try again.
    },
    async adopt(db, subject) {
      const content = (await reader.getObjects([subject.dwalletId])).get(subject.dwalletId);
      if (content === undefined || parseDWallet(content).state.kind !== "Active") return false;
      await setActive(db, subject.id, null);
      return true;
    },
  };
}

interface AcceptSubject {
  readonly id: string;
  readonly dwalletId: string;
  readonly encryptedUserSecretKeyShareId: string;
  readonly userOutputSignature: Uint8Array;
}

const SIZE_BYTES = 250;
const BATCH_COUNT = 10;

async function setActive(db: Queryable, id: string, digest: string | null): Promise<void> {
  await execute(
    db,
    sql`
WITH before AS MATERIALIZED (SELECT id, state FROM dwallet WHERE id = ${id} FOR UPDATE), changed AS (
  UPDATE dwallet d SET state = 'Active', accept_tx_digest = coalesce(accept_tx_digest, ${digest}), updated_at = now()
  FROM before b WHERE d.id = b.id AND b.state NOT IN ('Leaving', 'Left')
  RETURNING b.state AS state_before, ${eventColumns(sql`d`)}
)
${dwalletEventInsert("dwallet.active", sql`(SELECT * FROM changed WHERE state_before <> 'Active') AS active`)}`,
  );
}

/** Restores the user's signature of an accepted share. Returns the dWallet's row, or undefined if it is unknown, or
 * if the share is another user's. */
export async function recordLostAcceptance(
  db: Queryable,
  network: string,
  { dwalletId, shareId, userOutputSignature }: ReturnType<typeof acceptedShares>[number],
): Promise<string | undefined> {
  const [row] = await readRows(
    db,
    sql`UPDATE dwallet SET user_output_signature = ${userOutputSignature}
        WHERE network = ${network} AND object_id = ${dwalletId} AND encrypted_user_secret_key_share_id = ${shareId}
        RETURNING id`,
    { id: text },
  );
  return row?.id;
}
