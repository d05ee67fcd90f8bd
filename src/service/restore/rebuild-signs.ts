import sql from "sql-template-tag";
import { messageSignPrice, type PriceTable } from "../../protocol/price-table.ts";
import { requestedSessions } from "../chain/events.ts";
import type { PastTransaction } from "../chain/restore/lost-transactions.ts";
import type { Rebuilder, Unrecoverable } from "../chain/restore/replay.ts";
import { paidSigns } from "../chain/treasury/treasury-events.ts";
import { needsOwnPresigns } from "../onboarding/dwallet-kind.ts";
import { text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { holdLostPresign } from "../presigns/presign-moves.ts";
import { tripleOfRow } from "../signing/algorithm-enums.ts";
import {
  captureLostSubmission,
  endReservationOf,
  insertLostSignRequest,
  refillUserHalf,
} from "../signing/lost-sign-requests.ts";

/**
 * Restores the sign requests of lost transactions under their ids, and charges each once. A known reservation pays its
 * held price. Any other request pays today's price, or nothing if the project's credit is too low. A request of an
 * unknown dWallet cannot be restored.
 */
export function createSignRebuilder({ network, prices }: SignRebuilderOptions): Rebuilder {
  return {
    kind: "sign",
    async rebuild(db, { events }, sent) {
      const references = paidSigns(events);
      const subjectIds: string[] = [];
      const unrecoverable: Unrecoverable[] = [];
      for (const { data } of requestedSessions(events, "SignRequestEvent")) {
        const id = references.get(data.sign_id);
        if (id !== undefined && (await restore(db, id, data, sent))) subjectIds.push(id);
        else unrecoverable.push({ what: "sign request", id: id ?? data.sign_id, reason: WHOSE });
      }
      return { subjectIds, unrecoverable };
    },
  };

  /** Creates a charged row if needed. Returns false if the dWallet is unknown. */
  async function restore(db: Queryable, id: string, data: SignData, sent: PastTransaction): Promise<boolean> {
    const userSignMessage = Uint8Array.from(data.message_centralized_signature);
    const [known] = await readRows(db, sql`SELECT status FROM sign_request WHERE id = ${id}`, {
      status: text,
    });
    if (known?.status === "prepared") await captureLostSubmission(db, id, userSignMessage);
    if (known !== undefined) {
      await refillUserHalf(db, id, userSignMessage);
      return true;
    }
    const [dwallet] = await readRows(
      db,
      sql`SELECT id, project_id AS "projectId", kind FROM dwallet
          WHERE network = ${network} AND object_id = ${data.dwallet_id}`,
      { id: text, projectId: text, kind: text },
    );
    if (dwallet === undefined) return false;
    const numbers = numbersOf(data);
    const ofDWallet = needsOwnPresigns(dwallet, tripleOfRow(numbers).signatureAlgorithm);
    const scope = ofDWallet ? data.dwallet_id : data.dwallet_network_encryption_key_id;
    const bucket = { ...numbers, network, networkEncryptionKeyId: scope, ofDWallet };
    const presign = { presignId: data.presign_id, presign: Uint8Array.from(data.presign) };
    const presignId = await holdLostPresign(db, bucket, presign);
    await endReservationOf(db, presignId);
    const message = Uint8Array.from(data.message);
    await insertLostSignRequest(db, {
      id,
      projectId: dwallet.projectId,
      dwalletId: dwallet.id,
      presignId,
      network,
      ...numbers,
      message,
      userSignMessage,
      priceMicroUsd: messageSignPrice(prices, tripleOfRow(numbers).signatureAlgorithm, message.length),
      sentAt: sent.time ?? null,
    });
    return true;
  }
}

type SignData = ReturnType<typeof requestedSessions<"SignRequestEvent">>[number]["data"];

export interface SignRebuilderOptions {
  readonly network: string;
  /** The charge for a request whose own price is lost. */
  readonly prices: PriceTable;
}

const numbersOf = (data: SignData) => ({
  curve: data.curve,
  signatureAlgorithm: data.signature_algorithm,
  hashScheme: data.hash_scheme,
});

const WHOSE = "its dWallet is unknown, so it was signed but not charged";
