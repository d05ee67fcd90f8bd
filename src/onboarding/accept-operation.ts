import sql from "sql-template-tag";
import { acceptedShares } from "../chain/events.ts";
import type { OperationKind } from "../chain/operation.ts";
import { parseDWallet } from "../protocol/chain-objects.ts";
import type { ChainReader } from "../protocol/chain-reader.ts";
import { MixedUpAnswerError } from "../protocol/mixed-up-answer.ts";
import { bytea, text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { execute, readRows } from "../store/statements.ts";
import { ONBOARDING_PRIORITY } from "./onboarding-deps.ts";

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
    sql`UPDATE dwallet SET state = 'Active', accept_tx_digest = coalesce(accept_tx_digest, ${digest}),
          updated_at = now()
        WHERE id = ${id} AND state NOT IN ('Leaving', 'Left')`,
  );
}
