import { randomBytes, randomInt } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import {
  type CreateDWalletRequest,
  CreateDWalletRequestSchema,
  RegisterEncryptionKeyRequestSchema,
} from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../../gen/proto/tss/v1/types_pb.ts";
import { failOperation } from "../../../src/service/chain/submit/outbox.ts";
import { createDWallet } from "../../../src/service/onboarding/create-dwallet.ts";
import { registerEncryptionKey } from "../../../src/service/onboarding/encryption-keys.ts";
import type { OnboardingDeps } from "../../../src/service/onboarding/onboarding-deps.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { createFakeFullnode } from "../../component/service/platform/errors/fake-fullnode.ts";
import { dkgOfForm } from "../crypto/dkg-form.ts";
import { dwalletOf, objectId, TEST_ORIGIN } from "../database/rows.ts";

/** A registered encryption key with the key that its user signs with. */
export interface TestEncryptionKey {
  readonly rowId: string;
  readonly objectId: string;
  readonly signerAddress: string;
  readonly signerPublicKey: Uint8Array;
}

/** Onboarding calls over a fullnode that knows no user. Every operation lands, or is refused, at once. */
export function onboardingCalls(database: Database, bounds: Partial<OnboardingDeps> = {}) {
  const { network, reader, networkKeyId } = createFakeFullnode();
  const signals = createLocalSignals();
  const usual = {
    dkgsPerDay: 100,
    usersMaxCount: 100,
    dkgPriceMicroUsd: 0n,
    importPriceMicroUsd: 0n,
    paysImports: async () => true,
    refundsPerDay: 100,
  };
  const limits = { ...usual, ...bounds };
  const deps = { database, network, reader, readerFor: () => reader, signals, ...limits };
  const time = () => ({ timeoutMs: 10_000, signal: new AbortController().signal });
  const callerOf = (projectId: string) => ({ projectId, origin: TEST_ORIGIN });
  let refusal: string | undefined;
  signals.subscribe(topics.outbox(network.name), () => void endAll());

  async function endAll(): Promise<void> {
    const queued = await database.query<{ id: string; subjectId: string }>(
      `SELECT id, subject_id AS "subjectId" FROM chain_operation WHERE state = 'queued'`,
    );
    for (const { id, subjectId } of queued) {
      if (refusal !== undefined) await failOperation(database, id, "CHAIN_REJECTED", refusal);
      else await land(id, subjectId);
      signals.notify(topics.operation(subjectId));
    }
  }

  async function land(id: string, subjectId: string): Promise<void> {
    for (const table of ["encryption_key", "dwallet"]) {
      await database.query(`UPDATE ${table} SET object_id = $2 WHERE id = $1`, [subjectId, objectId()]);
    }
    await database.query("UPDATE chain_operation SET state = 'landed' WHERE id = $1", [id]);
  }

  return {
    deps,
    /** Makes the chain refuse operations with this message from now on; undefined: makes it accept everything. */
    refuseWith(words: string | undefined): void {
      refusal = words;
    },
    /** A registration as a user's client sends it. The same keypair and key give the same registration. */
    async registration(keypair = new Ed25519Keypair(), encryptionKey = new Uint8Array(randomBytes(261))) {
      const request = create(RegisterEncryptionKeyRequestSchema, {
        curve: Curve.SECP256K1,
        encryptionKey,
        signature: await keypair.sign(encryptionKey),
        signerPublicKey: keypair.getPublicKey().toRawBytes(),
      });
      return (projectId: string) => registerEncryptionKey(deps, callerOf(projectId), request, time());
    },
    /**
     * A key that the project has registered. It has the same object and signer if another project registered it before.
     */
    async registeredKey(projectId: string, same?: TestEncryptionKey): Promise<TestEncryptionKey> {
      const { rowId: dwalletId } = await dwalletOf(database, projectId);
      const signerPublicKey = same?.signerPublicKey ?? new Uint8Array(randomBytes(32));
      const [row] = await database.query<{ rowId: string; objectId: string; signerAddress: string }>(
        `UPDATE encryption_key k SET signer_public_key = $2, object_id = coalesce($3, k.object_id)
         FROM dwallet d WHERE d.id = $1 AND k.id = d.encryption_key_id
         RETURNING k.id AS "rowId", k.object_id AS "objectId", k.signer_address AS "signerAddress"`,
        [dwalletId, signerPublicKey, same?.objectId ?? null],
      );
      await database.query("DELETE FROM dwallet WHERE id = $1", [dwalletId]);
      return { ...row!, signerPublicKey };
    },
    /** A request for a DKG in a new session. */
    dkgRequest(
      key: Omit<TestEncryptionKey, "signerAddress">,
      change: Partial<CreateDWalletRequest> = {},
    ): CreateDWalletRequest {
      return create(CreateDWalletRequestSchema, {
        encryptionKeyId: key.objectId,
        curve: Curve.SECP256K1,
        networkEncryptionKeyId: networkKeyId,
        senderAddress: network.senderAddress,
        sessionIdentifier: new Uint8Array(randomBytes(32)),
        ...dkgOfForm("SECP256K1", randomInt(1, 1_000_000)),
        signerPublicKey: key.signerPublicKey,
        ...(change as object),
      });
    },
    createDWallet: (projectId: string, request: CreateDWalletRequest) =>
      createDWallet(deps, callerOf(projectId), request, time()),
  };
}
