import type { RegisterEncryptionKeyRequest } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { enqueueOperation } from "../chain/operation.ts";
import { type WaitTime, waitForOperation } from "../chain/wait-for-operation.ts";
import { topics } from "../coordination/topics.ts";
import { ServiceError } from "../errors/service-error.ts";
import { suiAddress } from "../protocol/addresses.ts";
import { equalBytes } from "../protocol/bytes.ts";
import type { ChainEncryptionKey } from "../protocol/chain-objects.ts";
import { verifyEd25519 } from "../protocol/verify-ed25519.ts";
import { writeAuditEvent } from "../store/audit.ts";
import { newId } from "../store/ids.ts";
import { checkQuota, lockForQuota } from "./check-quota.ts";
import { curveNumberOf } from "./curve-number.ts";
import { type EncryptionKeyRow, findKeyOfSigner } from "./encryption-key-row.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller, type OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Registers a user's encryption key, once for each signer: a repeat, also of a key that the chain knows from
 * elsewhere, returns what is registered. Throws BAD_SIGNATURE before any gas is spent, ENCRYPTION_KEY_CONFLICT when
 * the signer has another key, QUOTA_EXCEEDED, and what waiting for the chain throws.
 */
export async function registerEncryptionKey(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  request: RegisterEncryptionKeyRequest,
  time: WaitTime,
): Promise<EncryptionKeyRow> {
  const { encryptionKey, signature, signerPublicKey } = request;
  if (!verifyEd25519(signerPublicKey, encryptionKey, signature)) {
    throw new ServiceError(
      "BAD_SIGNATURE",
      "signature: does not verify over encryption_key under signer_public_key",
    );
  }
  const name = {
    projectId: caller.projectId,
    curve: curveNumberOf(request.curve),
    signerAddress: suiAddress("ED25519", signerPublicKey),
  };
  const known = await findKeyOfSigner(deps.database, name);
  if (known && !equalBytes(known.encryptionKey, encryptionKey)) throw conflict();
  if (known && known.objectId !== null) return known;
  const onChain = await deps.reader.registeredEncryptionKey(name.signerAddress);
  if (onChain && !isSame(onChain, name.curve, encryptionKey)) throw conflict();
  const { id, isRegistered } = await storeKey(deps, caller, { ...name, request }, onChain);
  if (!isRegistered) {
    deps.signals.notify(topics.outbox(deps.network.name));
    await waitForOperation(deps, "register", id, time);
  }
  const row = await findKeyOfSigner(deps.database, name);
  if (!row) throw new Error(`encryption key ${id} is gone`);
  return row;
}

interface NewKey {
  readonly curve: number;
  readonly signerAddress: string;
  readonly request: RegisterEncryptionKeyRequest;
}

/** Inserts the row, or finds the one that a concurrent call inserted, and queues the registration if it is needed. */
function storeKey(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  { curve, signerAddress, request }: NewKey,
  onChain: ChainEncryptionKey | undefined,
): Promise<{ id: string; isRegistered: boolean }> {
  const network = deps.network.name;
  return deps.database.transaction(async (sql) => {
    await lockForQuota(sql, caller.projectId);
    const [row] = await sql.query<{ id: string; encryptionKey: Uint8Array; objectId: string | null }>(
      `INSERT INTO encryption_key
         (id, project_id, network, curve, signer_address, encryption_key, signature, signer_public_key, object_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (project_id, curve, signer_address) DO UPDATE
         SET object_id = coalesce(encryption_key.object_id, excluded.object_id)
       RETURNING id, encryption_key AS "encryptionKey", object_id AS "objectId"`,
      [
        newId(),
        caller.projectId,
        network,
        curve,
        signerAddress,
        request.encryptionKey,
        request.signature,
        request.signerPublicKey,
        onChain?.id ?? null,
      ],
    );
    if (!row) throw new Error("the encryption key was not stored");
    if (!equalBytes(row.encryptionKey, request.encryptionKey)) throw conflict();
    if (row.objectId === null) {
      await checkQuota(sql, "encryption_key", caller.projectId, deps.dkgsPerDay);
      const operation = {
        id: newId(),
        network,
        kind: "register",
        subjectId: row.id,
        priority: ONBOARDING_PRIORITY,
      } as const;
      await enqueueOperation(sql, operation, { again: true });
    }
    await writeAuditEvent(sql, caller.origin, {
      projectId: caller.projectId,
      action: "encryption-key.register",
      subject: row.id,
    });
    return { id: row.id, isRegistered: row.objectId !== null };
  });
}

/** Whether the chain knows this very key. */
function isSame(onChain: ChainEncryptionKey, curve: number, encryptionKey: Uint8Array): boolean {
  return onChain.curveNumber === curve && equalBytes(onChain.encryptionKey, encryptionKey);
}

function conflict(): ServiceError {
  return new ServiceError("ENCRYPTION_KEY_CONFLICT", "the signer has registered another encryption key");
}
