import { randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import type { ShareDWalletRequest } from "../../../gen/proto/tss/v1/sharing_pb.ts";
import { EncryptedUserSecretKeyShare } from "../../../src/protocol/chain/chain-structs.ts";
import { shareConsentBytes } from "../../../src/protocol/chain/share-consent.ts";
import { suiAddress } from "../../../src/protocol/signatures/addresses.ts";
import { type Database, newId } from "../../../src/service/platform/store/database.ts";
import { ensureUser } from "../../../src/service/users/ensure-user.ts";
import { addKeyUser } from "../../../src/service/users/key-users.ts";
import { dwalletOf, objectId, type TestDWalletRow } from "./rows.ts";

/** An Active dWallet whose owner can sign consents. */
export interface Sharable extends TestDWalletRow {
  readonly projectId: string;
  readonly ownerAddress: string;
  /** Signs the request of the owner. A change of `signed` is covered by the signature, one of the result is not. */
  request(recipient: TestRecipient, signed?: Partial<SignedFields>): ShareRequest;
}

/** Somebody whose encryption key the project has registered. */
export interface TestRecipient {
  readonly address: string;
  readonly userReference: string | undefined;
  readonly secretKey: Uint8Array;
}

type SignedFields = Parameters<typeof shareConsentBytes>[0];
type ShareRequest = Omit<ShareDWalletRequest, "$typeName" | "$unknown">;

/** Inserts a dWallet of a new owner. */
export async function sharable(
  database: Database,
  projectId: string,
  options: { readonly userReference?: string } = {},
): Promise<Sharable> {
  const row = await dwalletOf(database, projectId, options);
  const { secretKey, publicKey } = ed25519.keygen();
  await database.query(
    "UPDATE dwallet SET signer_public_key = $2, encrypted_user_secret_key_share_id = $3 WHERE id = $1",
    [row.rowId, publicKey, objectId()],
  );
  return {
    ...row,
    projectId,
    ownerAddress: suiAddress("ED25519", publicKey),
    request(recipient, change = {}) {
      const signed = {
        dwalletId: row.objectId,
        recipientAddress: recipient.address,
        encryptedUserShareAndProof: new Uint8Array(randomBytes(100)),
        projectId,
        userReference: recipient.userReference,
        expiresEpoch: 5n,
        ...change,
      };
      const signature = ed25519.sign(shareConsentBytes(signed), secretKey);
      const { userReference, ...fields } = signed;
      return { ...fields, signature, ...(userReference !== undefined && { userReference }) };
    },
  };
}

/** Registers a new key on the curve of the test rows, for a user or for none. */
export async function recipientOf(
  database: Database,
  projectId: string,
  userReference?: string,
): Promise<TestRecipient> {
  const { secretKey, publicKey } = ed25519.keygen();
  const [keyId, address] = [newId(), suiAddress("ED25519", publicKey)];
  await database.query(
    `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                 signer_public_key, object_id)
     VALUES ($1, $2, 'localnet', 0, $3, '\\x00', '\\x00', $4, $5)`,
    [keyId, projectId, address, publicKey, objectId()],
  );
  if (userReference !== undefined) {
    const user = { projectId, reference: userReference };
    await database.transaction((db) => ensureUser(db, user, 1_000_000));
    await addKeyUser(database, user, keyId);
  }
  return { address, userReference, secretKey };
}

/** Inserts a share of the dWallet in a state. An accepted one lets its user sign. Returns the ids of its row and object. */
export async function sharedWith(
  database: Database,
  dwallet: Pick<TestDWalletRow, "rowId">,
  { address, userReference }: Pick<TestRecipient, "address" | "userReference">,
  state = "Accepted",
): Promise<{ readonly rowId: string; readonly shareId: string }> {
  const [rowId, shareId] = [newId(), objectId()];
  await database.query(
    `INSERT INTO dwallet_share (id, project_id, network, dwallet_id, encryption_key_id, user_reference, source_share_id,
                                encrypted_user_share_and_proof, share_hash, state, price_micro_usd, object_id)
     SELECT $1, d.project_id, d.network, d.id, k.id, $4, 'source', '\\x01', $5, $6, 0, $7
     FROM dwallet d, encryption_key k WHERE d.id = $2 AND k.signer_address = $3`,
    [rowId, dwallet.rowId, address, userReference ?? null, randomBytes(32), state, shareId],
  );
  if (state === "Accepted" && userReference !== undefined)
    await database.query("UPDATE dwallet SET holder_users = array_append(holder_users, $2) WHERE id = $1", [
      dwallet.rowId,
      userReference,
    ]);
  return { rowId, shareId };
}

/** The content of a share's object on the chain. */
export function shareContent(
  share: { readonly shareId: string; readonly dwalletId: string; readonly address: string },
  state: Parameters<typeof EncryptedUserSecretKeyShare.serialize>[0]["state"],
): Uint8Array {
  return EncryptedUserSecretKeyShare.serialize({
    id: share.shareId,
    created_at_epoch: 0,
    dwallet_id: share.dwalletId,
    encrypted_centralized_secret_share_and_proof: [1],
    encryption_key_id: objectId(),
    encryption_key_address: share.address,
    source_encrypted_user_secret_key_share_id: objectId(),
    state,
  }).toBytes();
}
