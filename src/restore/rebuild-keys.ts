import sql from "sql-template-tag";
import { createdEncryptionKeys } from "../chain/events.ts";
import type { Rebuilder, Unrecoverable } from "../chain/restore/replay.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { bytea, text } from "../store/columns.ts";
import { readRows } from "../store/statements.ts";
import { byteInputs } from "./pure-inputs.ts";

/**
 * Finds the rows of encryption keys that lost transactions registered. The chain does not name the project, so the
 * owner of a key without a row has to register it again, which needs no transaction.
 */
export function createKeyRebuilder(network: string): Rebuilder {
  return {
    kind: "register",
    async rebuild(db, { events }, { bytes }) {
      const created = createdEncryptionKeys(events);
      const sent = created.length > 0 ? byteInputs(bytes) : [];
      const subjectIds: string[] = [];
      const unrecoverable: Unrecoverable[] = [];
      for (const { encryptionKeyId, signerAddress } of created) {
        const rows = await readRows(
          db,
          sql`SELECT id, encryption_key AS "encryptionKey" FROM encryption_key
              WHERE network = ${network} AND signer_address = ${signerAddress}`,
          { id: text, encryptionKey: bytea },
        );
        const own = rows.filter((row) => sent.some((input) => equalBytes(input, row.encryptionKey)));
        subjectIds.push(...own.map(({ id }) => id));
        if (own.length === 0)
          unrecoverable.push({ what: "encryption key", id: encryptionKeyId, reason: WHOSE });
      }
      return { subjectIds, unrecoverable };
    },
  };
}

const WHOSE =
  "the chain does not name its project; its owner restores it by calling RegisterEncryptionKey again";
