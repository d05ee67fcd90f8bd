import { create } from "@bufbuild/protobuf";
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { fromBase64 } from "@mysten/sui/utils";
import sql from "sql-template-tag";
import { CreateDWalletRequestSchema } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import type { ChainReader } from "../../protocol/chain/chain-reader.ts";
import { sessionIdentifierPreimage } from "../../protocol/chain/session-identifier.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { acceptedShares, createdEncryptionKeys, requestedSessions } from "../chain/events.ts";
import type { Rebuilder, Unrecoverable } from "../chain/restore/replay.ts";
import { paidDkgs } from "../chain/treasury/treasury-events.ts";
import { recordLostAcceptance } from "../onboarding/accept-dwallet.ts";
import { chargeLostDkg, insertDWallet } from "../onboarding/create-dwallet.ts";
import { recordDWalletState } from "../onboarding/dwallet-session.ts";
import { curveEnum } from "../onboarding/encryption-keys.ts";
import { bytea, number, text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";

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
          unrecoverable.push({ what: "encryption key", id: encryptionKeyId, reason: WHOSE_KEY });
      }
      return { subjectIds, unrecoverable };
    },
  };
}

const WHOSE_KEY =
  "the chain does not name its project; its owner restores it by calling RegisterEncryptionKey again";

/**
 * Restores dWallets whose DKGs lost transactions requested, under their ids. The dWallet belongs to the project of its
 * encryption key, which pays today's price, or nothing if its credit is too low. If no project or several projects have
 * that key, the dWallet returns when its owner creates it again.
 */
export function createDWalletRebuilder(network: string, priceMicroUsd: bigint): Rebuilder {
  return {
    kind: "dkg",
    async rebuild(db, { events }, { bytes, sender }) {
      const requests = requestedSessions(events, "DWalletDKGRequestEvent");
      const references = paidDkgs(events);
      const sessions = requests.length > 0 ? byteInputs(bytes).filter((b) => b.length === SESSION_BYTES) : [];
      const subjectIds: string[] = [];
      const unrecoverable: Unrecoverable[] = [];
      for (const request of requests) {
        const { dwallet_id: id } = request.data;
        const sessionBytes = sessions.find((candidate) =>
          equalBytes(sessionIdentifierPreimage(candidate, sender), request.preimage),
        );
        const rowId = references.get(id);
        const isRestored =
          sessionBytes !== undefined &&
          rowId !== undefined &&
          (await restore(db, request, { rowId, sessionBytes, senderAddress: sender }));
        if (isRestored) subjectIds.push(rowId);
        else unrecoverable.push({ what: "dWallet", id, reason: WHOSE_DWALLET });
      }
      return { subjectIds, unrecoverable };
    },
  };

  /** Creates the row if needed. Returns false if its project is unknown. */
  async function restore(
    db: Queryable,
    { data }: DkgRequest,
    {
      rowId,
      sessionBytes,
      senderAddress,
    }: { rowId: string; sessionBytes: Uint8Array; senderAddress: string },
  ): Promise<boolean> {
    if ((await execute(db, sql`SELECT 1 FROM dwallet WHERE id = ${rowId}`)) > 0) return true;
    const share = data.user_secret_key_share.Encrypted;
    if (!share) return false;
    const keys = await readRows(
      db,
      sql`SELECT id, project_id AS "projectId", curve FROM encryption_key
          WHERE network = ${network} AND object_id = ${share.encryption_key_id} ORDER BY id LIMIT 2`,
      { id: text, projectId: text, curve: number },
    );
    const [key, other] = keys;
    if (key === undefined || other !== undefined) return false;
    const request = create(CreateDWalletRequestSchema, {
      encryptionKeyId: share.encryption_key_id,
      curve: curveEnum(data.curve),
      networkEncryptionKeyId: data.dwallet_network_encryption_key_id,
      senderAddress,
      sessionIdentifier: sessionBytes,
      userDkgMessage: Uint8Array.from(data.centralized_public_key_share_and_proof),
      encryptedUserShareAndProof: Uint8Array.from(share.encrypted_centralized_secret_share_and_proof),
      userPublicOutput: Uint8Array.from(data.user_public_output),
      signerPublicKey: Uint8Array.from(share.signer_public_key),
    });
    const { projectId } = key;
    await insertDWallet(db, { id: rowId, projectId, network, key, request, priceMicroUsd: 0n });
    await chargeLostDkg(db, { dwalletId: rowId, projectId, priceMicroUsd });
    await writeAuditEvent(db, REBUILDING, { projectId, action: "dwallet.rebuild", subject: rowId });
    return true;
  }
}

type DkgRequest = ReturnType<typeof requestedSessions<"DWalletDKGRequestEvent">>[number];

const SESSION_BYTES = 32;
const REBUILDING = { actor: "system" } as const;

const WHOSE_DWALLET =
  "its project is unknown; its owner restores it by calling RegisterEncryptionKey and CreateDWallet again";

/** Restores accepted shares of lost transactions: the user's signature, and the chain's state and output. */
export function createAcceptanceRebuilder(network: string, reader: ChainReader): Rebuilder {
  return {
    kind: "accept",
    async rebuild(db, { events }) {
      const subjectIds: string[] = [];
      for (const { dwalletId, userOutputSignature } of acceptedShares(events)) {
        const id = await recordLostAcceptance(db, network, dwalletId, userOutputSignature);
        const content = (await reader.getObjects([dwalletId])).get(dwalletId);
        // A dWallet that was not restored has already been reported with its DKG.
        if (id === undefined || content === undefined) continue;
        await recordDWalletState(db, id, content, NO_REFUNDS);
        subjectIds.push(id);
      }
      return { subjectIds, unrecoverable: [] };
    },
  };
}

/** A rejected DKG has no accepted share. */
const NO_REFUNDS = 0;

/** Returns the byte vectors among the pure inputs of a transaction, in order. */
function byteInputs(transactionBytes: Uint8Array): Uint8Array[] {
  const { inputs } = Transaction.from(transactionBytes).getData();
  return inputs.flatMap(({ Pure: pure }) => {
    const value = pure === undefined ? undefined : byteVector(fromBase64(pure.bytes));
    return value === undefined ? [] : [value];
  });
}

/** Returns the bytes of a BCS `vector<u8>`, or undefined for the encoding of another type. */
function byteVector(encoded: Uint8Array): Uint8Array | undefined {
  try {
    const value = Uint8Array.from(bcs.byteVector().parse(encoded));
    return bcs.byteVector().serialize(value).toBytes().length === encoded.length ? value : undefined;
  } catch {
    return undefined;
  }
}
