import sql from "sql-template-tag";
import { equalBytes } from "../../protocol/bytes.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../protocol/chain/session-identifier.ts";
import { requestedSessions } from "../chain/events.ts";
import type { LandedTransaction, OperationKind } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import { bytea, number, text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import { isImportedKey } from "./dwallet-kind.ts";
import { failDWallet } from "./dwallet-session.ts";
import { ONBOARDING_PRIORITY } from "./onboarding-deps.ts";

/**
 * Requests DKGs, and verifications of imported keys, through the Treasury: Submitting -> AwaitingNetworkDKGVerification once landed, or Failed with a refund
 * if it can never land. The mark on the chain is the session bytes. A DKG is bound to the sender that the client
 * prepared it for, so no other sender can request it.
 */
export function createDkgOperation(
  reader: Pick<NetworkReader, "sessionRequest">,
  senderAddress: string,
): OperationKind<DkgSubject> {
  return {
    name: "dkg",
    priority: ONBOARDING_PRIORITY,
    batchCount: BATCH_COUNT,
    async load(db, subjectIds) {
      const rows = await readRows<DkgSubject>(
        db,
        sql`SELECT d.id, d.kind, d.curve, d.network_encryption_key_id AS "networkEncryptionKeyId",
                d.sender_address AS "senderAddress", d.session_identifier AS "sessionBytes",
                d.user_dkg_message AS "userDkgMessage",
                d.encrypted_user_share_and_proof AS "encryptedUserShareAndProof",
                d.user_public_output AS "userPublicOutput", d.signer_public_key AS "signerPublicKey",
                k.signer_address AS "encryptionKeyAddress"
         FROM dwallet d JOIN encryption_key k ON k.id = d.encryption_key_id WHERE d.id = ANY(${subjectIds}::uuid[])`,
        {
          id: text,
          kind: text,
          curve: number,
          networkEncryptionKeyId: text,
          senderAddress: text,
          sessionBytes: bytea,
          userDkgMessage: bytea,
          encryptedUserShareAndProof: bytea,
          userPublicOutput: bytea,
          signerPublicKey: bytea,
          encryptionKeyAddress: text,
        },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: (subject) =>
      subject.userDkgMessage.length +
      subject.encryptedUserShareAndProof.length +
      subject.userPublicOutput.length +
      OVERHEAD_BYTES,
    obstacle: (subject) =>
      subject.senderAddress === senderAddress
        ? undefined
        : {
            reason: "WRONG_SENDER",
            message: "the DKG was prepared for a previous hot wallet",
          },
    add(calls, subjects) {
      for (const { id, kind, ...parts } of subjects) {
        const call = { ...parts, requestReference: new TextEncoder().encode(id) };
        if (isImportedKey({ kind })) calls.payImport(call);
        else calls.payDkg(call);
      }
    },
    async landed(db, subjects, transaction) {
      for (const subject of subjects) await landed(db, subject, transaction);
    },
    async failed(db, subject, { reason }) {
      await failDWallet(db, subject.id, { from: "Submitting", to: "Failed", reason });
    },
    async adopt(db, subject) {
      const transaction = await reader.sessionRequest(preimageOf(subject));
      if (transaction === undefined) return false;
      await landed(db, subject, transaction);
      return true;
    },
  };
}

interface DkgSubject {
  readonly id: string;
  readonly kind: string;
  readonly curve: number;
  readonly networkEncryptionKeyId: string;
  readonly senderAddress: string;
  readonly sessionBytes: Uint8Array;
  readonly userDkgMessage: Uint8Array;
  readonly encryptedUserShareAndProof: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  readonly encryptionKeyAddress: string;
}

const OVERHEAD_BYTES = 500;
const BATCH_COUNT = 8;

const preimageOf = ({ sessionBytes, senderAddress }: DkgSubject): Uint8Array =>
  sessionIdentifierPreimage(sessionBytes, senderAddress);

interface NewDWallet {
  readonly preimage: Uint8Array;
  readonly isImportedKey: boolean;
  readonly dwalletId: string;
  readonly capId: string;
  readonly shareId: string | undefined;
  /** The address of the key that the share is encrypted to. */
  readonly ownerAddress: string | undefined;
}

/** Returns the dWallets of both kinds that a transaction requested. */
function newDWallets(events: LandedTransaction["events"]): NewDWallet[] {
  const imports = requestedSessions(events, "DWalletImportedKeyVerificationRequestEvent").map(
    ({ preimage, data }) => ({
      preimage,
      isImportedKey: true,
      dwalletId: data.dwallet_id,
      capId: data.dwallet_cap_id,
      shareId: data.encrypted_user_secret_key_share_id,
      ownerAddress: data.encryption_key_address,
    }),
  );
  const dkgs = requestedSessions(events, "DWalletDKGRequestEvent").map(({ preimage, data }) => ({
    preimage,
    isImportedKey: false,
    dwalletId: data.dwallet_id,
    capId: data.dwallet_cap_id,
    shareId: data.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id,
    ownerAddress: data.user_secret_key_share.Encrypted?.encryption_key_address,
  }));
  return [...imports, ...dkgs];
}

async function landed(
  db: Queryable,
  subject: DkgSubject,
  { digest, events }: LandedTransaction,
): Promise<void> {
  const preimage = preimageOf(subject);
  const made = newDWallets(events).find((one) => equalBytes(one.preimage, preimage));
  if (made?.shareId === undefined)
    throw new MixedUpAnswerError("transaction", `transaction ${digest} requested no DKG for ${subject.id}`);
  const refuse = () =>
    failDWallet(db, subject.id, { from: "Submitting", to: "Failed", reason: "DWALLET_TAKEN" });
  // A session is public. Whoever requests it again, after this database has lost it, gets nobody else's dWallet.
  const isOwn = made.ownerAddress === subject.encryptionKeyAddress;
  if (!isOwn || made.isImportedKey !== isImportedKey(subject)) return await refuse();
  const { dwalletId, capId, shareId } = made;
  const changedCount = await execute(
    db,
    sql`UPDATE dwallet SET state = 'AwaitingNetworkDKGVerification', object_id = ${dwalletId}, cap_id = ${capId},
          encrypted_user_secret_key_share_id = ${shareId}, tx_digest = ${digest}, updated_at = now()
        WHERE id = ${subject.id} AND state = 'Submitting' AND NOT EXISTS (
          SELECT FROM dwallet a
          WHERE a.network = dwallet.network AND a.object_id = ${dwalletId} AND a.adopted_at IS NOT NULL)
        RETURNING id`,
  );
  // The session's DKG is older than this database, and its dWallet was adopted: nothing was paid for this request.
  if (changedCount === 0) await refuse();
}
