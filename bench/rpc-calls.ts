/** The calls that `bench/rpc-cpu.ts` measures, in an order in which each finds what it needs. */
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Admin, ApiKey_Scope } from "../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../gen/proto/tss/v1/billing_pb.ts";
import { Onboarding } from "../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing, SignRequest_Status } from "../gen/proto/tss/v1/signing_pb.ts";
import { Curve, Hash, SignatureAlgorithm } from "../gen/proto/tss/v1/types_pb.ts";
import { dkgOfForm } from "../test/support/crypto/dkg-form.ts";
import { layoutOfSignMessage } from "../test/support/database/rows.ts";
import { makeSigner } from "./support/make-signer.ts";

/** Makes a call `count` times, waits for `over`, and records the cost. */
export type Meter = <T>(
  name: string,
  call: (index: number) => Promise<T>,
  count: number,
  over?: () => Promise<unknown>,
) => Promise<T[]>;

const SETTLE_MS = 1500;
const SEALED_MS = 5000;
const WARM_UP_CALLS = 300;
const MESSAGE = new TextEncoder().encode("one message of thirty-two octets");
const HALF = layoutOfSignMessage();

/** Makes `callCount` calls of each method through the meter. GetSign comes first. */
export async function measureCalls(
  cost: Meter,
  { url, adminApiKey, callCount }: { url: string; adminApiKey: string; callCount: number },
): Promise<void> {
  const { apiKey, dwalletId } = await makeSigner(url, adminApiKey, 0);
  const transport = createGrpcTransport({ baseUrl: url });
  const clientOf = <S extends DescService>(desc: S): Client<S> => createClient(desc, transport);
  const under = (key: string) => ({
    headers: { authorization: `Bearer ${key}`, "x-network": "localnet", "idempotency-key": randomUUID() },
  });
  const user = () => under(apiKey);
  const admin = () => under(adminApiKey);
  const [signing, onboarding] = [clientOf(Signing), clientOf(Onboarding)];
  const [billing, operator] = [clientOf(Billing), clientOf(Admin)];
  const each = <T>(name: string, call: (index: number) => Promise<T>) => cost(name, call, callCount);

  const signs = { dwalletId, signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1, hashScheme: Hash.SHA256 };
  // Fills the pool, and warms up the code.
  while ((await operator.getPresignHealth({}, admin())).buckets.every(({ ready }) => ready < 2 * callCount))
    await sleep(300);
  const warm = await signing.reserveSign({ ...signs, message: MESSAGE }, user());
  for (let index = 0; index < WARM_UP_CALLS; index++)
    await signing.getSign({ signRequestId: warm.signRequestId }, user());

  await cost("GetSign", () => signing.getSign({ signRequestId: warm.signRequestId }, user()), 5 * callCount);
  const reserved = await each("ReserveSign", () =>
    signing.reserveSign({ ...signs, message: MESSAGE }, user()),
  );
  await cost(
    "SubmitSign, to the verified signature",
    (index) =>
      signing.submitSign({ signRequestId: reserved[index]!.signRequestId, userSignMessage: HALF }, user()),
    callCount,
    async () => {
      const open = { status: SignRequest_Status.queued };
      const sent = { status: SignRequest_Status.submitted };
      for (const filter of [open, sent])
        while ((await signing.listSigns(filter, user())).signRequests.length > 0) await sleep(200);
    },
  );
  await each("WatchSign of one that is completed", async (index) => {
    for await (const _ of signing.watchSign({ signRequestId: reserved[index]!.signRequestId }, user()));
  });
  await each("ListSigns", () => signing.listSigns({ pageSize: 20 }, user()));

  await each("GetNetwork", () => onboarding.getNetwork({}, user()));
  const network = await onboarding.getNetwork({}, user());
  const signers = Array.from({ length: callCount }, () => new Ed25519Keypair());
  const encryptionKeys = signers.map(() => new Uint8Array(randomBytes(261)));
  const publicKeyOf = (index: number) => signers[index]!.getPublicKey().toRawBytes();
  const signatures = await Promise.all(signers.map((signer, index) => signer.sign(encryptionKeys[index]!)));
  const keys = await each("RegisterEncryptionKey", (index) =>
    onboarding.registerEncryptionKey(
      {
        curve: Curve.SECP256K1,
        encryptionKey: encryptionKeys[index]!,
        signature: signatures[index]!,
        signerPublicKey: publicKeyOf(index),
      },
      user(),
    ),
  );
  const dkg = dkgOfForm();
  const made = await cost(
    "CreateDWallet",
    (index) =>
      onboarding.createDWallet(
        {
          curve: Curve.SECP256K1,
          encryptionKeyId: keys[index]!.encryptionKeyId,
          networkEncryptionKeyId: network.networkEncryptionKeyId,
          senderAddress: network.senderAddresses[0]!,
          sessionIdentifier: new Uint8Array(randomBytes(32)),
          signerPublicKey: publicKeyOf(index),
          ...dkg,
        },
        user(),
      ),
    callCount,
    () => sleep(SETTLE_MS),
  );
  const waiting = await each("GetDWallet", (index) =>
    onboarding.getDWallet({ dwalletId: made[index]!.dwalletId }, user()),
  );
  const outputs = await Promise.all(
    waiting.map(({ publicOutput }, index) => signers[index]!.sign(publicOutput!)),
  );
  await each("AcceptDWallet", (index) =>
    onboarding.acceptDWallet(
      {
        dwalletId: made[index]!.dwalletId,
        encryptedUserSecretKeyShareId: waiting[index]!.encryptedUserSecretKeyShareId,
        userOutputSignature: outputs[index]!,
      },
      user(),
    ),
  );
  await each("ListDWallets", () => onboarding.listDWallets({ pageSize: 20 }, user()));
  await each("ListEncryptionKeys", () => onboarding.listEncryptionKeys({ pageSize: 20 }, user()));

  await each("GetBalance", () => billing.getBalance({}, user()));
  await each("GetPricing", () => billing.getPricing({}, user()));
  await each("ListLedgerEntries", () => billing.listLedgerEntries({ pageSize: 20 }, user()));
  await each("GetDepositAddress", () => billing.getDepositAddress({}, user()));
  await each("ListDeposits", () => billing.listDeposits({ pageSize: 20 }, user()));
  await each("DeclareDeposit of no transaction", (index) =>
    billing
      .declareDeposit({ txDigest: `${index}`.padStart(44, "2").replaceAll("0", "z") }, user())
      .catch(() => undefined),
  );

  const projects = await each("CreateProject", (index) =>
    operator.createProject({ name: `made ${index}` }, admin()),
  );
  const projectOf = (index: number) => projects[index]!.project!.projectId;
  const apiKeys = await each("CreateApiKey", (index) =>
    operator.createApiKey(
      { projectId: projectOf(index), name: "made", scopes: [ApiKey_Scope.sign] },
      admin(),
    ),
  );
  const apiKeyIdOf = (index: number) => apiKeys[index]!.apiKey!.apiKeyId;
  await each("SetAllowedAddresses", (index) =>
    operator.setAllowedAddresses({ apiKeyId: apiKeyIdOf(index), allowedAddresses: ["10.0.0.0/8"] }, admin()),
  );
  await each("RotateApiKey", (index) => operator.rotateApiKey({ apiKeyId: apiKeyIdOf(index) }, admin()));
  await each("RevokeApiKey", (index) => operator.revokeApiKey({ apiKeyId: apiKeyIdOf(index) }, admin()));
  await each("AdjustCredit", (index) =>
    operator.adjustCredit({ projectId: projectOf(index), amountMicroUsd: 1n, reason: "bench" }, admin()),
  );
  await each("ListProjects", () => operator.listProjects({ pageSize: 20 }, admin()));
  await each("ListApiKeys", (index) => operator.listApiKeys({ projectId: projectOf(index) }, admin()));
  const adminKeys = await each("CreateAdminKey", (index) =>
    operator.createAdminKey({ name: `made-${index}` }, admin()),
  );
  await each("ListAdminKeys", () => operator.listAdminKeys({ pageSize: 20 }, admin()));
  await each("RevokeAdminKey", (index) =>
    operator.revokeAdminKey({ adminKeyId: adminKeys[index]!.adminKey!.adminKeyId }, admin()),
  );
  await each("GetTreasury", () => operator.getTreasury({}, admin()));
  await each("GetPresignHealth", () => operator.getPresignHealth({}, admin()));
  await each("ListChainTransactions", () => operator.listChainTransactions({ pageSize: 20 }, admin()));
  await sleep(SEALED_MS);
  const { auditEvents } = await operator.listAuditEvents({ pageSize: 20 }, admin());
  await each("ListAuditEvents", () => operator.listAuditEvents({ pageSize: 20 }, admin()));
  await each("ListAuditSeals", () => operator.listAuditSeals({ pageSize: 20 }, admin()));
  const sealed = auditEvents.at(-1)!;
  await each("GetAuditProof", () => operator.getAuditProof({ auditEventId: sealed.auditEventId }, admin()));
  await each("RefillPresigns of one", () =>
    operator.refillPresigns({ curve: 0, signatureAlgorithm: 0, count: 1 }, admin()),
  );
}
