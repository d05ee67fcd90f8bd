import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import sql from "sql-template-tag";
import {
  type CreateDWalletRequest,
  CreateDWalletRequestSchema,
} from "../../gen/proto/tss/v1/onboarding_pb.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/**
 * Inserts the row as `Submitting`. Returns false if the session has a row in any project, or if another dWallet of the
 * project has the name.
 */
export async function insertDWallet(db: Queryable, dwallet: NewDWallet): Promise<boolean> {
  const { id, projectId, network, key, request, priceMicroUsd } = dwallet;
  const insertedCount = await execute(
    db,
    sql`INSERT INTO dwallet
          (id, project_id, network, curve, encryption_key_id, network_encryption_key_id, sender_address,
           session_identifier, request_hash, user_dkg_message, encrypted_user_share_and_proof, user_public_output,
           signer_public_key, price_micro_usd, name, state)
        VALUES
          (${id}, ${projectId}, ${network}, ${key.curve}, ${key.id}, ${request.networkEncryptionKeyId},
           ${request.senderAddress}, ${request.sessionIdentifier}, ${hashRequest(request)},
           ${request.userDkgMessage}, ${request.encryptedUserShareAndProof}, ${request.userPublicOutput},
           ${request.signerPublicKey}, ${priceMicroUsd}, ${request.name ?? null}, 'Submitting')
        ON CONFLICT DO NOTHING RETURNING id`,
  );
  return insertedCount > 0;
}

/** A dWallet to insert before its DKG is requested. */
export interface NewDWallet {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  /** The id of the encryption key's row. */
  readonly key: { readonly id: string; readonly curve: number };
  readonly request: CreateDWalletRequest;
  readonly priceMicroUsd: bigint;
}

/** SHA-256 that distinguishes a repeated request from another one for the same session. */
export function hashRequest(request: CreateDWalletRequest): Uint8Array {
  return new Uint8Array(createHash("sha256").update(toBinary(CreateDWalletRequestSchema, request)).digest());
}
