import { create } from "@bufbuild/protobuf";
import { bcs } from "@mysten/sui/bcs";
import { Transaction } from "@mysten/sui/transactions";
import { fromBase64 } from "@mysten/sui/utils";
import sql from "sql-template-tag";
import { CreateDWalletRequestSchema, DWalletKind } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import type { ChainReader } from "../../protocol/chain/chain-reader.ts";
import { sessionIdentifierPreimage } from "../../protocol/chain/session-identifier.ts";
import type { PriceTable } from "../../protocol/price-table.ts";
import { writeAuditEvent } from "../audit/audit-event.ts";
import { acceptedShares, createdEncryptionKeys, requestedSessions } from "../chain/events.ts";
import type { ChainEvent } from "../chain/operation.ts";
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
 * Restores dWallets whose DKGs or imports lost transactions requested, under their ids. The dWallet belongs to the
 * project of its encryption key, which pays today's price, or nothing if its credit is too low. If no project or several
 * projects have that key, the dWallet returns when its owner adopts it. One that was adopted already keeps its row.
 */
export function createDWalletRebuilder(
  network: string,
  prices: Pick<PriceTable, "dkgMicroUsd" | "importMicroUsd">,
): Rebuilder {
  return {
    kind: "dkg",
    async rebuild(db, { events }, { bytes, sender }) {
      const requests = newDWallets(events);
      const references = paidDkgs(events);
      const sessions = requests.length > 0 ? byteInputs(bytes).filter((b) => b.length === SESSION_BYTES) : [];
      const subjectIds: string[] = [];
      const unrecoverable: Unrecoverable[] = [];
      for (const request of requests) {
        const { id } = request;
        if (await isAdopted(db, id)) continue;
        const sessionBytes = sessions.find((candidate) =>
          equalBytes(sessionIdentifierPreimage(candidate, sender), request.preimage),
        );
        const rowId = references.get(id);
        if (sessionBytes && (await isRequestedAgain(db, sender, sessionBytes, rowId))) continue;
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

  /** Returns whether the owner has brought the dWallet back already. Only one row can have it. */
  async function isAdopted(db: Queryable, dwalletId: string): Promise<boolean> {
    const query = sql`SELECT 1 FROM dwallet
                      WHERE network = ${network} AND object_id = ${dwalletId} AND adopted_at IS NOT NULL`;
    return (await execute(db, query)) > 0;
  }

  /**
   * Returns whether the owner has requested the lost session again, under another id. That row was paid, and its
   * operation finds the outcome by the session.
   */
  async function isRequestedAgain(
    db: Queryable,
    sender: string,
    sessionBytes: Uint8Array,
    rowId: string | undefined,
  ): Promise<boolean> {
    const query = sql`SELECT 1 FROM dwallet WHERE network = ${network} AND sender_address = ${sender}
                        AND session_identifier = ${sessionBytes} AND id IS DISTINCT FROM ${rowId ?? null}::uuid`;
    return (await execute(db, query)) > 0;
  }

  /** Creates the row if needed. Returns false if its project is unknown. */
  async function restore(
    db: Queryable,
    { encryptionKeyId, isImportedKey, ...parts }: NewDWalletRequest,
    {
      rowId,
      sessionBytes,
      senderAddress,
    }: { rowId: string; sessionBytes: Uint8Array; senderAddress: string },
  ): Promise<boolean> {
    if ((await execute(db, sql`SELECT 1 FROM dwallet WHERE id = ${rowId}`)) > 0) return true;
    if (encryptionKeyId === undefined) return false;
    const keys = await readRows(
      db,
      sql`SELECT id, project_id AS "projectId", curve FROM encryption_key
          WHERE network = ${network} AND object_id = ${encryptionKeyId} ORDER BY id LIMIT 2`,
      { id: text, projectId: text, curve: number },
    );
    const [key, other] = keys;
    if (key === undefined || other !== undefined) return false;
    const request = create(CreateDWalletRequestSchema, {
      encryptionKeyId,
      curve: curveEnum(parts.curve),
      networkEncryptionKeyId: parts.networkEncryptionKeyId,
      senderAddress,
      sessionIdentifier: sessionBytes,
      userDkgMessage: parts.userDkgMessage,
      encryptedUserShareAndProof: parts.encryptedUserShareAndProof,
      userPublicOutput: parts.userPublicOutput,
      signerPublicKey: parts.signerPublicKey,
      ...(isImportedKey && { kind: DWalletKind.imported_key }),
    });
    const priceMicroUsd = isImportedKey ? prices.importMicroUsd : prices.dkgMicroUsd;
    const { projectId } = key;
    await insertDWallet(db, { id: rowId, projectId, network, key, request, priceMicroUsd: 0n });
    await chargeLostDkg(db, { dwalletId: rowId, projectId, priceMicroUsd });
    await writeAuditEvent(db, REBUILDING, { projectId, action: "dwallet.rebuild", subject: rowId });
    return true;
  }
}

/** A request of a dWallet, as the chain's event describes it. */
interface NewDWalletRequest {
  /** The id of the dWallet's object. */
  readonly id: string;
  readonly isImportedKey: boolean;
  readonly preimage: Uint8Array;
  /** Undefined if the share is public. */
  readonly encryptionKeyId: string | undefined;
  readonly curve: number;
  readonly networkEncryptionKeyId: string;
  readonly userDkgMessage: Uint8Array;
  readonly encryptedUserShareAndProof: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  readonly signerPublicKey: Uint8Array;
}

/** Returns the dWallets that a transaction requested. */
function newDWallets(events: readonly ChainEvent[]): NewDWalletRequest[] {
  const dkgs = requestedSessions(events, "DWalletDKGRequestEvent").map(
    ({ preimage, data }): NewDWalletRequest => {
      const share = data.user_secret_key_share.Encrypted;
      return {
        ...common(data),
        isImportedKey: false,
        preimage,
        encryptionKeyId: share?.encryption_key_id,
        userDkgMessage: Uint8Array.from(data.centralized_public_key_share_and_proof),
        encryptedUserShareAndProof: Uint8Array.from(
          share?.encrypted_centralized_secret_share_and_proof ?? [],
        ),
        signerPublicKey: Uint8Array.from(share?.signer_public_key ?? []),
      };
    },
  );
  const imports = requestedSessions(events, "DWalletImportedKeyVerificationRequestEvent").map(
    ({ preimage, data }): NewDWalletRequest => ({
      ...common(data),
      isImportedKey: true,
      preimage,
      encryptionKeyId: data.encryption_key_id,
      userDkgMessage: Uint8Array.from(data.centralized_party_message),
      encryptedUserShareAndProof: Uint8Array.from(data.encrypted_centralized_secret_share_and_proof),
      signerPublicKey: Uint8Array.from(data.signer_public_key),
    }),
  );
  return [...dkgs, ...imports];
}

function common(data: {
  readonly dwallet_id: string;
  readonly curve: number;
  readonly dwallet_network_encryption_key_id: string;
  readonly user_public_output: number[];
}) {
  return {
    id: data.dwallet_id,
    curve: data.curve,
    networkEncryptionKeyId: data.dwallet_network_encryption_key_id,
    userPublicOutput: Uint8Array.from(data.user_public_output),
  };
}

const SESSION_BYTES = 32;
const REBUILDING = { actor: "system" } as const;

const WHOSE_DWALLET =
  "its project is unknown; its owner restores it by calling RegisterEncryptionKey and AdoptDWallet";

/** Restores accepted shares of lost transactions: the user's signature, and the chain's state and output. */
export function createAcceptanceRebuilder(network: string, reader: ChainReader): Rebuilder {
  return {
    kind: "accept",
    async rebuild(db, { events }) {
      const subjectIds: string[] = [];
      for (const accepted of acceptedShares(events)) {
        const { dwalletId } = accepted;
        const id = await recordLostAcceptance(db, network, accepted);
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
