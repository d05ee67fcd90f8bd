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

/** Stores the row, unless there is one, and queues the registration if it is needed. */
function storeKey(
  deps: OnboardingDeps,
  caller: OnboardingCaller,
  { curve, signerAddress, request }: NewKey,
  onChain: ChainEncryptionKey | undefined,
): Promise<{ id: string; isRegistered: boolean }> {
  const network = deps.network.name;
  const { projectId } = caller;
  return deps.database.transaction(async (sql) => {
    // Concurrent calls of one project come here one after another.
    await lockForQuota(sql, projectId);
    const [known] = await sql.query<{ id: string; encryptionKey: Uint8Array; objectId: string | null }>(
      `SELECT id, encryption_key AS "encryptionKey", object_id AS "objectId" FROM encryption_key
       WHERE project_id = $1 AND curve = $2 AND signer_address = $3`,
      [projectId, curve, signerAddress],
    );
    if (known && !equalBytes(known.encryptionKey, request.encryptionKey)) throw conflict();
    const id = known?.id ?? newId();
    const objectId = known?.objectId ?? onChain?.id ?? null;
    // The operation before the row, in the order in which the submitter locks them.
    if (objectId === null) {
      const { traceParent } = caller.origin;
      const operation = { id: newId(), network, kind: "register", subjectId: id, traceParent } as const;
      await enqueueOperation(sql, { ...operation, priority: ONBOARDING_PRIORITY }, { again: true });
    }
    await sql.query(
      `INSERT INTO encryption_key
         (id, project_id, network, curve, signer_address, encryption_key, signature, signer_public_key, object_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (project_id, curve, signer_address) DO UPDATE
         SET object_id = coalesce(encryption_key.object_id, excluded.object_id)`,
      [
        id,
        projectId,
        network,
        curve,
        signerAddress,
        request.encryptionKey,
        request.signature,
        request.signerPublicKey,
        objectId,
      ],
    );
    if (objectId === null) await checkQuota(sql, "encryption_key", projectId, deps.dkgsPerDay);
    await writeAuditEvent(sql, caller.origin, { projectId, action: "encryption-key.register", subject: id });
    return { id, isRegistered: objectId !== null };
  });
}

/** Whether the chain knows this very key. */
function isSame(onChain: ChainEncryptionKey, curve: number, encryptionKey: Uint8Array): boolean {
  return onChain.curveNumber === curve && equalBytes(onChain.encryptionKey, encryptionKey);
}

function conflict(): ServiceError {
  return new ServiceError("ENCRYPTION_KEY_CONFLICT", "the signer has registered another encryption key");
}
