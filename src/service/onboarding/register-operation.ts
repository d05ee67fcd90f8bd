import sql from "sql-template-tag";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { createdEncryptionKeys } from "../chain/events.ts";
import type { OperationKind } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import { bytea, number, text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import { isRegisteredKey } from "./encryption-keys.ts";
import { ONBOARDING_PRIORITY } from "./onboarding-deps.ts";

/** Registers encryption keys with the coordinator. The mark on the chain is the signer, who has one key permanently. */
export function createRegisterOperation(
  reader: Pick<NetworkReader, "registeredEncryptionKey">,
): OperationKind<RegisterSubject> {
  return {
    name: "register",
    priority: ONBOARDING_PRIORITY,
    batchCount: BATCH_COUNT,
    async load(db, subjectIds) {
      const rows = await readRows<RegisterSubject>(
        db,
        sql`SELECT id, curve, signer_address AS "signerAddress", encryption_key AS "encryptionKey", signature,
                signer_public_key AS "signerPublicKey"
         FROM encryption_key WHERE id = ANY(${subjectIds}::uuid[])`,
        {
          id: text,
          curve: number,
          signerAddress: text,
          encryptionKey: bytea,
          signature: bytea,
          signerPublicKey: bytea,
        },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: () => SIZE_BYTES,
    add(calls, subjects) {
      for (const subject of subjects) calls.registerEncryptionKey(subject);
    },
    async landed(db, subjects, { digest, events }) {
      const created = new Map(createdEncryptionKeys(events).map((key) => [key.signerAddress, key]));
      for (const { id, signerAddress } of subjects) {
        const key = created.get(signerAddress);
        if (!key)
          throw new MixedUpAnswerError(
            "transaction",
            `transaction ${digest} registered no key for ${signerAddress}`,
          );
        await setObject(db, id, key.encryptionKeyId, digest);
      }
    },
    async failed() {
      // The outbox records the reason. The row has no object, and the caller may try again.
    },
    async adopt(db, subject) {
      const onChain = await reader.registeredEncryptionKey(subject.signerAddress);
      if (onChain === undefined || !isRegisteredKey(onChain, subject)) return false;
      await setObject(db, subject.id, onChain.id, null);
      return true;
    },
  };
}

interface RegisterSubject {
  readonly id: string;
  readonly curve: number;
  readonly signerAddress: string;
  readonly encryptionKey: Uint8Array;
  readonly signature: Uint8Array;
  readonly signerPublicKey: Uint8Array;
}

const SIZE_BYTES = 600;
const BATCH_COUNT = 10;

async function setObject(db: Queryable, id: string, objectId: string, digest: string | null): Promise<void> {
  await execute(
    db,
    sql`UPDATE encryption_key SET object_id = ${objectId}, tx_digest = ${digest}
        WHERE id = ${id} AND object_id IS NULL`,
  );
}
