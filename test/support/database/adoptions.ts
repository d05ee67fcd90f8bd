import { randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import type { AdoptDWalletRequest } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { adoptionConsentBytes } from "../../../src/protocol/chain/adoption-consent.ts";
import { DWallet, EncryptedUserSecretKeyShare } from "../../../src/protocol/chain/chain-structs.ts";
import { suiAddress } from "../../../src/protocol/signatures/addresses.ts";
import { type Database, newId } from "../../../src/service/platform/store/database.ts";
import type { TestCustody } from "../chain/treasury-bytes.ts";
import { makeDWallet } from "../crypto/made-dwallet.ts";
import { objectId } from "./rows.ts";

/** A dWallet of a user that the chain has and the database lacks, and the owner's consent that a project adopts it. */
export interface Adoptable {
  readonly dwalletId: string;
  readonly custody: TestCustody;
  readonly publicKey: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  /** The content of the dWallet and of the owner's share, by their ids. */
  readonly contents: Map<string, Uint8Array>;
  /** Signs the request of the owner. A change of `signed` is covered by the signature, one of the result is not. */
  request(signed?: Partial<SignedFields>): AdoptionRequest;
}

type AdoptionRequest = Omit<AdoptDWalletRequest, "$typeName" | "$unknown">;
type SignedFields = Parameters<typeof adoptionConsentBytes>[0];

/** Where a test's dWallet is to be adopted, and what is unusual about it. */
export interface AdoptableOptions {
  readonly projectId: string;
  readonly treasuryId: string;
  /** The digest of the chain's first checkpoint. */
  readonly chain: Uint8Array;
  readonly dwallet?: Partial<Parameters<typeof DWallet.serialize>[0]>;
  readonly share?: Partial<Parameters<typeof EncryptedUserSecretKeyShare.serialize>[0]>;
}

/** Registers a new owner's key with the project, and makes a dWallet of that owner. */
export async function adoptable(database: Database, options: AdoptableOptions): Promise<Adoptable> {
  const { projectId, treasuryId, chain } = options;
  const { secretKey, publicKey: signerPublicKey } = ed25519.keygen();
  const owner = suiAddress("ED25519", signerPublicKey);
  const [dwalletId, capId, shareId, encryptionKeyId] = [objectId(), objectId(), objectId(), objectId()];
  const { output, publicKey } = makeDWallet(Uint8Array.of(0, 32, 3, ...new Uint8Array(31)));
  await database.query(
    `INSERT INTO encryption_key (id, project_id, network, curve, signer_address, encryption_key, signature,
                                 signer_public_key, object_id)
     VALUES ($1, $2, 'localnet', 2, $3, '\\x00', '\\x00', $4, $5)`,
    [newId(), projectId, owner, signerPublicKey, encryptionKeyId],
  );
  const table = { id: objectId(), size: 0 };
  const dwallet = DWallet.serialize({
    id: dwalletId,
    created_at_epoch: 0,
    curve: 2,
    public_user_secret_key_share: null,
    dwallet_cap_id: capId,
    dwallet_network_encryption_key_id: objectId(),
    is_imported_key_dwallet: false,
    encrypted_user_secret_key_shares: table,
    sign_sessions: table,
    state: { Active: output },
    ...options.dwallet,
  });
  const share = EncryptedUserSecretKeyShare.serialize({
    id: shareId,
    created_at_epoch: 0,
    dwallet_id: dwalletId,
    encrypted_centralized_secret_share_and_proof: [1],
    encryption_key_id: encryptionKeyId,
    encryption_key_address: owner,
    source_encrypted_user_secret_key_share_id: null,
    state: { KeyHolderSigned: ed25519.sign(output, secretKey) },
    ...options.share,
  });
  return {
    dwalletId,
    custody: { dwalletId, owner, capId, curveNumber: 2 },
    publicKey,
    signerPublicKey,
    contents: new Map([
      [dwalletId, dwallet.toBytes()],
      [shareId, share.toBytes()],
    ]),
    request(change = {}) {
      const signed = {
        chain,
        treasuryId,
        dwalletId,
        encryptedUserSecretKeyShareId: shareId,
        sessionDigest: new Uint8Array(randomBytes(32)),
        projectId,
        userReference: undefined,
        expiresEpoch: 5n,
        ...change,
      };
      const signature = ed25519.sign(adoptionConsentBytes(signed), secretKey);
      const { userReference, ...fields } = signed;
      return { ...fields, encryptionKeyId, signature, ...(userReference !== undefined && { userReference }) };
    },
  };
}
