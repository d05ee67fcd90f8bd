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
import { curveNumberOf } from "./curve-number.ts";
import { type EncryptionKeyRow, findKeyOfSigner } from "./encryption-key-row.ts";
import { ONBOARDING_PRIORITY, type OnboardingCaller, type OnboardingDeps } from "./onboarding-deps.ts";

/**
 * Registers a user's encryption key, once for each signer: a repeat, also of a key that the chain knows from
 * elsewhere, returns what is registered. Throws BAD_SIGNATURE before any gas is spent, ENCRYPTION_KEY_CONFLICT when
 * the signer has another key, and what waiting for the chain throws.
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
  const key = {
    curve: curveNumberOf(request.curve),
    signerAddress: suiAddress("ED25519", signerPublicKey),
    request,
  };
  const known = await findKeyOfSigner(deps.database, caller.projectId, key.curve, key.signerAddress);
  if (known && !equalBytes(known.encryptionKey, encryptionKey)) throw conflict();
  if (known && known.objectId !== null) return known;
  const onChain = await deps.reader.registeredEncryptionKey(key.signerAddress);
  if (onChain && !isSame(onChain, key)) throw conflict();
  const id = await storeKey(deps, caller, key, onChain);
  if (!onChain) {
    deps.signals.notify(topics.outbox(deps.network.name));
    await waitForOperation(deps, "register", id, time);
  }
  const row = await findKeyOfSigner(deps.database, caller.projectId, key.curve, key.signerAddress);
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
): Promise<string> {
  const network = deps.network.name;
  return deps.database.transaction(async (sql) => {
    const inserted = await sql.query<{ id: string }>(
      `INSERT INTO encryption_key
         (id, project_id, network, curve, signer_address, encryption_key, signature, signer_public_key, object_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (project_id, curve, signer_address) DO UPDATE
         SET object_id = coalesce(encryption_key.object_id, excluded.object_id)
       RETURNING id`,
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
    const id = inserted[0]?.id ?? "";
    const row = await findKeyOfSigner(sql, caller.projectId, curve, signerAddress);
    if (row && !equalBytes(row.encryptionKey, request.encryptionKey)) throw conflict();
    if (row?.objectId === null) {
      const operation = {
        id: newId(),
        network,
        kind: "register",
        subjectId: id,
        priority: ONBOARDING_PRIORITY,
      } as const;
      await enqueueOperation(sql, operation, { again: true });
    }
    await writeAuditEvent(sql, caller.origin, {
      projectId: caller.projectId,
      action: "encryption-key.register",
      subject: id,
    });
    return id;
  });
}

/** Whether the chain knows the very key of the request. */
function isSame(
  onChain: ChainEncryptionKey,
  key: { readonly curve: number; readonly request: { readonly encryptionKey: Uint8Array } },
): boolean {
  return onChain.curveNumber === key.curve && equalBytes(onChain.encryptionKey, key.request.encryptionKey);
}

function conflict(): ServiceError {
  return new ServiceError("ENCRYPTION_KEY_CONFLICT", "the signer has registered another encryption key");
}
